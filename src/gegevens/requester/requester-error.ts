/** A supplier's endpoint did not do what its contract says; the message is for the person who asked. */
export class RequesterError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RequesterError';
  }
}
