/** A consumer: it handles a citizen's request, asks a provider for data, and logs its actions. */
import { randomUUID } from 'node:crypto';
import { processingHeaders, type VerwerkingenlogClient } from 'koppelvlak/verwerkingenlog';

export interface Intake {
  readonly naam: string;
  /** Links all actions for this request, here and at the provider. */
  readonly verwerkingId: string;
}

export async function handleIntake(bsn: string, personenUrl: string, client: VerwerkingenlogClient): Promise<Intake> {
  // The UUID of a case also identifies its processing.
  const verwerking = {
    oin: '00000099000000001000',
    verwerkingId: randomUUID(),
    vertrouwelijkheid: 'normaal',
    bewaartermijn: 'P5Y',
  } as const;
  const { verwerkingId, vertrouwelijkheid, bewaartermijn } = verwerking;

  const response = await fetch(`${personenUrl}/personen/zoek`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...processingHeaders(verwerking) },
    body: JSON.stringify({ bsn }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`the register of persons answered ${response.status}`);
  const answer: unknown = await response.json();
  const naam = typeof answer === 'object' && answer !== null && 'naam' in answer ? String(answer.naam) : '';

  await client.log({
    actieNaam: 'Zoeken persoon',
    handelingNaam: 'Intake',
    verwerkingNaam: 'Aanvraag schuldhulp',
    verwerkingId,
    vertrouwelijkheid,
    bewaartermijn,
    uitvoerder: verwerking.oin,
    systeem: 'Intake',
    gegevensbron: 'Personenregister',
    tijdstip: new Date().toISOString(),
    verwerkteObjecten: [
      {
        objecttype: 'persoon',
        soortObjectId: 'BSN',
        objectId: bsn,
        betrokkenheid: 'Aanvrager',
        verwerkteSoortenGegevens: [{ soortGegeven: 'Naam' }],
      },
    ],
  });
  return { naam, verwerkingId };
}
