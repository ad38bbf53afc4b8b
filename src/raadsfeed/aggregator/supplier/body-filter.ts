import type { SupplierOptions } from '../source.ts';

/** Characters of an expression at most: an operator writes it, and every name of every meeting is matched with it. */
const MAX_EXPRESSION = 500;

/** Reads a regular expression of an operator; case is ignored. @throws {SyntaxError} */
export function readExpression(text: string): RegExp {
  if (text.length > MAX_EXPRESSION) throw new SyntaxError(`longer than ${MAX_EXPRESSION} characters`);
  return new RegExp(text, 'iu');
}

/**
 * Whether something belongs to the organisation of a source, by the names of its meeting type, body or register: several organisations
 * may share one site of a supplier.
 */
export function createBodyFilter({ bodies, notBodies }: SupplierOptions): (names: readonly string[]) => boolean {
  const wanted = bodies === undefined ? undefined : readExpression(bodies);
  const unwanted = notBodies === undefined ? undefined : readExpression(notBodies);
  // Whose something without a name is cannot be known.
  return (names) =>
    (names.length > 0 || (wanted ?? unwanted) === undefined) &&
    (wanted === undefined || names.some((name) => wanted.test(name))) &&
    (unwanted === undefined || !names.some((name) => unwanted.test(name)));
}
