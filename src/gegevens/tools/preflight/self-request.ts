/** One signed request to the own service, by the address that requesters use. */

import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import { loadModel } from '../../../lib/exchange-model/model.ts';
import { reasonOf } from '../../../lib/log.ts';
import { variantSettings } from '../../variant-settings.ts';
import { checkAnswer, describeProblem, openRequester, signedHeaders } from '../requester/request-delivery.ts';
import { RequesterError, type SupplierResponse, sendRequest } from '../requester/send-request.ts';
import { failed, notChecked, ok, type PreflightContext, shownAddress, type Verdict } from './line.ts';

/** Gives the header with an access token for a request to the own service; empty when there is no token. */
export type Authorization = (variant: Variant) => Promise<Readonly<Record<string, string>>>;

/** A day without deliveries: the answer has every part of one, and no persons. */
const NO_DATA = '1900-01-01';
const BODY = JSON.stringify({
  aanleverperiodeStartdatum: NO_DATA,
  aanleverperiodeEinddatum: NO_DATA,
  page: 1,
  pageSize: 1,
});
const MAX_BYTES = 16 * 1024 * 1024;

export async function checkSelf(
  variant: Variant,
  { config, own, path, now, timeoutMs, signal }: PreflightContext,
  authorization: Authorization,
): Promise<Verdict> {
  const { gegevens, server } = config;
  if (server.publicBaseUrl === undefined) {
    const todo = 'set PUBLIC_BASE_URL to the address that clients see';
    const detail = 'PUBLIC_BASE_URL is not set';
    return server.environment === 'production' ? failed(detail, todo) : notChecked(detail, todo);
  }
  if (path === undefined) return notChecked('there is no signing certificate with a valid chain');
  const { prefix, model: version } = variantSettings(gegevens, variant);
  const url = `${server.publicBaseUrl}${prefix}/gegevens`;
  const requester = await openRequester(config, now, { revocationDeadlineMs: timeoutMs, ocspTimeoutMs: timeoutMs });
  try {
    const token = await authorization(variant);
    const started = now().getTime();
    let answered: SupplierResponse;
    try {
      answered = await sendRequest({
        url,
        body: BODY,
        timeoutMs,
        maxBytes: MAX_BYTES,
        attempts: 1,
        waiting: () => undefined,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        headers: { ...token, ...(await signedHeaders(requester.signer, 'digest', BODY)) },
      });
    } catch (error) {
      signal.throwIfAborted();
      const todo =
        'not a fault if only your Inway has access there; otherwise start the service, or correct PUBLIC_BASE_URL';
      return notChecked(`not reachable from here: ${reasonOf(error)}`, todo);
    }
    const { status, headers, body } = answered;
    const code = headers['fsc-error-code']?.[0];
    const address = shownAddress(url);
    if (status === 401 && Object.keys(token).length === 0 && code === 'ERROR_CODE_ACCESS_TOKEN_MISSING') {
      return ok(`${address}: reached, and asks for a token; --token-file makes the whole request`);
    }
    const { allowedSigners } = gegevens;
    if (status === 403 && allowedSigners.length > 0 && !allowedSigners.includes(own?.oin ?? '')) {
      return ok(`${address}: token and signature are valid, but GEGEVENS_ALLOWED_SIGNERS lacks the own OIN`);
    }
    if (status !== 200) {
      const detail = `${address} answers status ${status}: ${describeProblem(body, code)}`;
      return failed(detail, todoOf(status, own?.oin ?? 'unknown'));
    }
    await checkAnswer(answered, requester.verifier, loadModel(variant, version));
    return ok(`${address}: answered in ${now().getTime() - started} ms; digest, signature and model are valid`);
  } catch (error) {
    if (!(error instanceof RequesterError)) throw error;
    const todo =
      'make every proxy in between pass the answer on unchanged: no compression, reformatting or shortened headers';
    return failed(error.message, todo);
  } finally {
    await requester.close();
  }
}

function todoOf(status: number, oin: string): string {
  if (status >= 300 && status < 400) return 'set PUBLIC_BASE_URL to the address itself: requests are not redirected';
  const todos: Readonly<Record<number, string>> = {
    400: 'let everything in between pass the body and the headers `Digest` and `nlgov-adr-payload-sig` on as they are',
    401: 'get a valid token for this service: the log line of the request names the reason (`tokenRefusal`)',
    403: `use a token of the party that signs (OIN ${oin}), with scope \`read\`: see OAUTH_CLIENT_OINS and OAUTH_OIN_CLAIM`,
    404: 'let the path pass unchanged to this service, and set GEGEVENS_SERVICES to the names (`svc`) in the tokens',
  };
  const tooLarge = 'raise the limits of the proxies in between: a certificate chain makes a header of 8 to 12 KB';
  if ([413, 414, 431].includes(status)) return tooLarge;
  return todos[status] ?? 'correct what the detail names, or find the log line of the service for this request';
}
