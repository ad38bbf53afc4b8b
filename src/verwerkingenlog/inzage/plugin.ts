/** The pages on which citizens see what was done with their data. */
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Counter } from 'prom-client';
import { mountPages } from '../../html/mount.ts';
import { renderPage, type Site } from '../../html/page.ts';
import { Problem } from '../../lib/problem.ts';
import { html } from '../../lib/template.ts';
import { createOpenCounter } from '../../plugins/limits.ts';
import { SCRIPTLESS_POLICY } from '../../plugins/pages.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { overviewFile, overviewPage, readAsked } from './overview-page.ts';
import { answerProof, PROOFS, proofAddress } from './proof.ts';
import { readOverview } from './read-overview.ts';
import { createSessions, type Session } from './sessions.ts';
import { createSignIn, SignInError } from './sign-in.ts';
import { frontPage, HOME, LOGIN, LOGOUT, loginFailedPage, OVERVIEW, RETURN, type SendPage, STATUS_OF } from './site.ts';

/** Enough for a year of nearly everybody, in lines that open. */
const PER_PAGE = 200;
/** On a page to print, and in a download. */
const PER_FILE = 1000;
/** Simultaneous readings of one citizen, in this process. */
const AT_ONCE = 2;
const FORM_BYTES = 1024;

export const inzage = fp(
  async (app: FastifyInstance) => {
    const { organisation = 'deze organisatie' } = app.settings.server;
    const { rateLimit, issuer } = app.settings.inzage;
    app.log.info({ issuer, path: HOME }, 'citizens can see what was done with their data');
    await mountPages(app, {
      site: {
        name: 'Inzage in uw gegevens',
        home: HOME,
        menu: [
          { href: HOME, text: 'Begin' },
          { href: OVERVIEW, text: 'Uw overzicht' },
        ],
        footer: html`<p>Deze pagina’s zijn van ${organisation}.</p>`,
      },
      about: 'wat er met uw persoonsgegevens is gedaan; u logt in',
      headers: { 'content-security-policy': SCRIPTLESS_POLICY },
      isPersonal: true,
      rateLimit,
      routes: (scope, site) => inzageRoutes(scope, site, organisation),
    });
  },
  { name: 'inzage', dependencies: ['verwerkingenlog'] },
);

async function inzageRoutes(app: FastifyInstance, site: Site, organisation: string): Promise<void> {
  const { settings: config, publicBaseUrl } = app;
  const { maxRetention } = config.verwerkingenlog;
  const settings = { ...config.inzage, links: config.html.links, organisation, maxRetention };
  const signIn = createSignIn(app);
  const sessions = createSessions(app);
  const writer = app.proof('verwerkingen', 'kept');
  const options = { settings, proofAddress: writer === undefined ? undefined : proofAddress };
  const readings = createOpenCounter(AT_ONCE);
  const logins = new Counter({
    name: 'koppelvlak_inzage_logins_total',
    help: 'Citizens who came back from logging in, by result',
    labelNames: ['result'],
    registers: [app.metrics],
  });
  app.addHook('onClose', signIn.close);
  await app.register(cookie);
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES },
    (_request, _body, done) => done(null, undefined),
  );

  // Never stored anywhere: the headers of every answer say `no-store`.
  const send: SendPage = (reply, page, status = 200) =>
    reply.code(status).type('text/html; charset=utf-8').send(renderPage(site, page));

  const login = (path: string, step: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>): void => {
    app.get(path.slice(HOME.length), async (request, reply) => {
      try {
        return await step(request, reply);
      } catch (error) {
        if (!(error instanceof SignInError)) throw error;
        const { reason, cause } = error;
        logins.inc({ result: reason });
        // Not the error itself: the library's errors contain requests, and even a token with a citizen service number.
        const code = Object(cause).code;
        request.log.warn({ reason, ...(typeof code === 'string' ? { code } : {}) }, 'a citizen could not be logged in');
        return send(reply, loginFailedPage(reason), STATUS_OF[reason]);
      }
    });
  };

  /** Data of the citizen, below the mount; without a session the answer is the front page. */
  const personal = (
    path: string,
    handler: (request: FastifyRequest, reply: FastifyReply, session: Session) => Promise<FastifyReply>,
  ): void => {
    app.get(path.slice(HOME.length), async (request, reply) => {
      const session = await sessions.read(request, reply);
      if (session === undefined) {
        const notice = sessions.wasSent(request) ? 'ended' : undefined;
        sessions.forget(reply);
        return send(reply, frontPage(settings, notice, undefined), 401);
      }
      // Under a keyed hash: the number itself is not kept.
      const { keys } = app.actieLog;
      readings(keys.hash(keys.current, 'BSN', session.bsn), request);
      return handler(request, reply, session);
    });
  };

  app.get('/', (_request, reply) => send(reply, frontPage(settings, undefined, undefined)));
  app.get('/uitgelogd', async (_request, reply) =>
    send(reply, frontPage(settings, 'logged-out', await signIn.logoutAddress())),
  );
  login(LOGIN, async (_request, reply) => {
    const { address, attempt } = await signIn.start(`${publicBaseUrl()}${RETURN}`);
    await sessions.beginLogin(reply, attempt);
    return reply.redirect(address, 303);
  });
  login(RETURN, async (request, reply) => {
    const attempt = await sessions.takeLogin(request, reply);
    if (attempt === undefined) throw new SignInError('response');
    const answer = new URL(`${publicBaseUrl()}${RETURN}`);
    answer.search = request.url.split('?', 2)[1] ?? '';
    await sessions.begin(reply, await signIn.finish(answer, attempt));
    logins.inc({ result: 'ok' });
    return reply.redirect(OVERVIEW, 303);
  });
  personal(OVERVIEW, async (request, reply, session) => {
    const { asked, faults } = readAsked(request.url);
    if (faults.length > 0) return send(reply, overviewPage({ settings, asked, faults }), 400);
    const selection = { ...asked, byYear: !asked.all, limit: asked.all ? PER_FILE : PER_PAGE };
    const overview = await readOverview({ request, reply, address: OVERVIEW }, session, selection, options);
    return send(reply, overviewPage({ settings, asked, overview }));
  });
  personal(`${OVERVIEW}.json`, async (request, reply, session) => {
    const { asked, faults } = readAsked(request.url);
    if (faults.length > 0) throw new Problem(platformProblems.invalidRequest, { detail: faults.join(' ') });
    const address = `${publicBaseUrl()}${OVERVIEW}.json`;
    const selection = { ...asked, byYear: false, limit: PER_FILE };
    const overview = await readOverview({ request, reply, address }, session, selection, options);
    return reply
      .header('content-disposition', 'attachment; filename="inzage.json"')
      .type('application/json; charset=utf-8')
      .send(`${JSON.stringify(overviewFile(overview, asked), null, 2)}\n`);
  });
  if (writer !== undefined)
    personal(`${PROOFS}/:file`, (request, reply, session) => answerProof(request, reply, session, writer, send));
  app.post(LOGOUT.slice(HOME.length), async (request, reply) => {
    // Browsers name the origin of a form; the cookie is not sent from elsewhere anyway.
    const from = request.headers['sec-fetch-site'];
    if (from !== undefined && from !== 'same-origin' && from !== 'none') {
      throw new Problem(platformProblems.forbidden, { detail: 'Uitloggen kan alleen vanaf onze eigen pagina.' });
    }
    await sessions.end(request, reply);
    return reply.redirect(`${HOME}/uitgelogd`, 303);
  });
}
