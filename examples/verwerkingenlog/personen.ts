/** A provider: it delivers personal data and logs who received which data, and why. */
import Fastify, { type FastifyInstance } from 'fastify';
import { type VerwerkingenlogClient, verwerkingsheaders } from 'koppelvlak/verwerkingenlog';

/** Stands in for a register of persons. */
const NAMES = new Map([['999990019', 'J. Jansen']]);

export async function buildPersonen(client: VerwerkingenlogClient): Promise<FastifyInstance> {
  const app = Fastify();
  // From here on every call is checked, and has `verwerking` and `logVerwerking`.
  await app.register(verwerkingsheaders, { client });

  // The number is in the body, because addresses end up in unprotected logs.
  app.post<{ Body: { bsn: string } }>('/personen/zoek', async (request, reply) => {
    const { bsn } = request.body;
    const naam = NAMES.get(bsn);
    // First the entry, then the data: an unlogged answer is never given.
    await request.logVerwerking({
      actieNaam: 'Verstrekken naam',
      verwerkingNaam: 'Verstrekken uit het personenregister',
      uitvoerder: '00000099000000002000',
      systeem: 'Personenregister',
      tijdstip: new Date().toISOString(),
      verwerkteObjecten: [
        {
          objecttype: 'persoon',
          soortObjectId: 'BSN',
          objectId: bsn,
          verwerkteSoortenGegevens: [{ soortGegeven: 'Naam' }],
        },
      ],
    });
    if (naam === undefined) return reply.code(404).send({ title: 'Onbekende persoon' });
    return { naam };
  });
  return app;
}
