import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Cart } from '../src/cart.js';

describe('a cart', () => {
  it('is empty at first', () => {
    assert.equal(new Cart().isEmpty, true);
    assert.equal(new Cart().total(), 0);
  });

  it('sums its lines', () => {
    const cart = new Cart().add('tea', 4.5, 2).add('cup', 12);
    assert.equal(cart.total(), 2100);
  });

  it('has one line for each article', () => {
    const cart = new Cart().add('tea', 4.5).add('cup', 12).add('tea', 4.5);
    assert.deepEqual(cart.lines.map(({ article, count }) => [article, count]), [['tea', 2], ['cup', 1]]);
  });

  it('keeps to one price for an article', () => {
    assert.throws(() => new Cart().add('tea', 4.5).add('tea', 5), /another price/);
  });

  it('takes whole counts only', () => {
    assert.throws(() => new Cart().add('tea', 4.5, 0), RangeError);
    assert.throws(() => new Cart().add('tea', 4.5, 1.5), RangeError);
  });

  it('forgets what is removed', () => {
    const cart = new Cart().add('tea', 4.5);
    assert.equal(cart.remove('tea'), true);
    assert.equal(cart.remove('tea'), false);
    assert.equal(cart.isEmpty, true);
  });
});
