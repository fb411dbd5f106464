// Money as whole cents: sums of them are exact.

export function cents(amount) {
  if (!Number.isFinite(amount)) {
    throw new TypeError(`not an amount: ${amount}`);
  }
  return Math.round(amount * 100);
}

export function format(value) {
  const sign = value < 0 ? '-' : '';
  const whole = Math.abs(value);
  return `${sign}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`;
}
