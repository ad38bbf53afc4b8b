/**
 * What somebody else wrote, in a file, a request or a row of the database, is not of the form that it must have. A class of its own: a `TypeError`
 * may just as well be a fault of this program, and must not pass for one of theirs.
 */
export class FormatError extends Error {
  override readonly name: string = 'FormatError';
}
