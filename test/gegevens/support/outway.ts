import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { mintFscToken } from '../../support/fsc-token.ts';
import { send } from './requester.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** One request that reached the Outway. */
export interface OutwayRequest {
  readonly transactionId: string;
  readonly path: string;
  readonly body: string;
}

export interface StandInOutway {
  readonly url: string;
  readonly requests: OutwayRequest[];
  /** Called with each request before it is passed on; returning a status ends the request. */
  before: (request: OutwayRequest) => Promise<number | undefined>;
  close(): Promise<void>;
}

interface OutwayOptions {
  /** The service behind the Inway. */
  readonly service: string;
  readonly grantHash: string;
  /** PEM files of the Manager that signs tokens, and their claims. */
  readonly manager: { readonly key: string; readonly certificate: string };
  readonly token: {
    readonly groupId: string;
    readonly peerId: string;
    readonly audience: string;
    readonly subject: string;
  };
}

/**
 * An Outway and its Inway in one: it requires the hash of a known grant and a fresh transaction id for each request, accepts no token from
 * the client, adds the group's token, and passes everything else on unchanged, including the path.
 */
export async function startOutway({ service, grantHash, manager, token }: OutwayOptions): Promise<StandInOutway> {
  const seen = new Set<string>();
  const requests: OutwayRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const refuse = (status: number, code: string): void => {
      response
        .writeHead(status, { 'content-type': 'application/json', 'fsc-error-code': code })
        .end(JSON.stringify({ message: 'refused', domain: 'ERROR_DOMAIN_OUTWAY', code }));
    };
    const { headers, url: path = '/' } = incoming;
    const transactionId = String(headers['fsc-transaction-id']);
    if (headers['fsc-grant-hash'] !== grantHash) return refuse(400, 'ERROR_CODE_UNKNOWN_GRANT_HASH_IN_HEADER');
    if (!UUID_V7.test(transactionId) || seen.has(transactionId))
      return refuse(400, 'ERROR_CODE_INVALID_TRANSACTION_ID');
    if (headers.authorization !== undefined || headers['fsc-authorization'] !== undefined) {
      return refuse(400, 'ERROR_CODE_TOKEN_OF_CLIENT');
    }
    seen.add(transactionId);
    const request = { transactionId, path, body: body.toString() };
    requests.push(request);
    const status = await outway.before(request);
    if (status !== undefined) {
      response.writeHead(status, { 'retry-after': '0' }).end();
      return;
    }
    const { connection: _hop, host: _host, 'fsc-grant-hash': _grant, 'content-length': _length, ...passed } = headers;
    const answer = await send(
      `${service}${path}`,
      'POST',
      {
        ...passed,
        'fsc-authorization': await mintFscToken({
          ...token,
          key: readFileSync(manager.key, 'utf8'),
          certificate: readFileSync(manager.certificate, 'utf8'),
          service: path.startsWith('/vs/') ? 'vs' : 'shv',
        }),
      },
      body,
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answer.bytes);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const outway: StandInOutway = {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    before: async () => undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return outway;
}
