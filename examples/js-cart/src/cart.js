// A cart: lines of one article each, in the order they were added.

import { cents } from './money.js';

export class Cart {
  #lines = new Map();

  add(article, price, count = 1) {
    if (!Number.isInteger(count) || count < 1) {
      throw new RangeError(`not a count: ${count}`);
    }
    const line = this.#lines.get(article) ?? { article, price: cents(price), count: 0 };
    if (line.price !== cents(price)) {
      throw new Error(`${article} has another price already`);
    }
    this.#lines.set(article, { ...line, count: line.count + count });
    return this;
  }

  remove(article) {
    return this.#lines.delete(article);
  }

  get lines() {
    return [...this.#lines.values()];
  }

  get isEmpty() {
    return this.#lines.size === 0;
  }

  total() {
    return this.lines.reduce((sum, line) => sum + line.price * line.count, 0);
  }
}
