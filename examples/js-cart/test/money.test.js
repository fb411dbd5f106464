import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { cents, format } from '../src/money.js';

describe('cents', () => {
  it('are whole numbers', () => {
    assert.equal(cents(19.99), 1999);
    assert.equal(cents(0.1) + cents(0.2), cents(0.3));
  });

  it('are made of numbers only', () => {
    assert.throws(() => cents('19.99'), TypeError);
    assert.throws(() => cents(NaN), TypeError);
  });
});

describe('format', () => {
  it('shows two places', () => {
    assert.equal(format(1999), '19.99');
    assert.equal(format(5), '0.05');
  });

  it('shows what is owed', () => {
    assert.equal(format(-250), '-2.50');
  });
});
