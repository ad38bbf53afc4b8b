import type { SupplierOptions } from '../source.ts';

const MAX_EXPRESSION = 500;

/** Case is ignored. @throws {SyntaxError} */
export function readExpression(text: string): RegExp {
  if (text.length > MAX_EXPRESSION) throw new SyntaxError(`longer than ${MAX_EXPRESSION} characters`);
  return new RegExp(text, 'iu');
}

/** Whether a meeting type, body or register is the organisation's: several organisations may share one site. */
export function createBodyFilter({ bodies, notBodies }: SupplierOptions): (names: readonly string[]) => boolean {
  const wanted = bodies === undefined ? undefined : readExpression(bodies);
  const unwanted = notBodies === undefined ? undefined : readExpression(notBodies);
  // Without a name its owner is unknown.
  return (names) =>
    (names.length > 0 || (wanted ?? unwanted) === undefined) &&
    (wanted === undefined || names.some((name) => wanted.test(name))) &&
    (unwanted === undefined || !names.some((name) => unwanted.test(name)));
}
