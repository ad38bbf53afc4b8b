/** The six headers with which a caller says for which processing of its own it asks; their form was checked by the contract. */
export interface ProcessingHeaders {
  readonly oin: string | undefined;
  readonly verwerkingsactiviteitId: string | undefined;
  readonly verwerkingsactiviteitUrl: string | undefined;
  readonly verwerkingId: string | undefined;
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk';
  readonly bewaartermijn: string | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** @param headers as Node gives them: names in lower case */
export function readProcessingHeaders(headers: Headers): ProcessingHeaders {
  const read = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    oin: read('oin'),
    verwerkingsactiviteitId: read('verwerkingsactiviteitid'),
    verwerkingsactiviteitUrl: read('verwerkingsactiviteiturl'),
    verwerkingId: read('verwerkingid'),
    // What was confidential once and is so no more is as open as what never was; nothing can be logged as `opgeheven`.
    vertrouwelijkheid: read('vertrouwelijkheid')?.toLowerCase() === 'vertrouwelijk' ? 'vertrouwelijk' : 'normaal',
    bewaartermijn: read('bewaartermijn'),
  };
}

/** The headers that could be expected and are not there. */
export function missingHeaders({ oin, verwerkingId }: ProcessingHeaders): string[] {
  return [...(oin === undefined ? ['OIN'] : []), ...(verwerkingId === undefined ? ['VerwerkingId'] : [])];
}
