import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Counter } from 'prom-client';
import { readBrand } from '../../html/brand.ts';
import { buildStylesheet, mountPages, serveStylesheet } from '../../html/mount.ts';
import { type Page, renderPage, type Site } from '../../html/page.ts';
import { UUID } from '../../lib/patterns.ts';
import { Problem } from '../../lib/problem.ts';
import { isDay } from '../../lib/time.ts';
import { createOpenCounter } from '../../plugins/limits.ts';
import { SCRIPTLESS_POLICY } from '../../plugins/pages.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { type Asked, overviewPage } from './overview-page.ts';
import { proofAddress, proofPages } from './proof.ts';
import { type Overview, readOverview } from './read-overview.ts';
import { createSessions, type Session } from './sessions.ts';
import { createSignIn, SignInError } from './sign-in.ts';
import {
  createSite,
  frontPage,
  HOME,
  LOGIN,
  LOGOUT,
  loginFailedPage,
  type Notice,
  OVERVIEW,
  RETURN,
  STATUS_OF,
} from './site.ts';

/** Enough for a year of nearly everybody, in lines that open. */
const PER_PAGE = 200;
/** On a page to print, and in a download. */
const PER_FILE = 1000;
/** Simultaneous readings of one citizen, in this process. */
const AT_ONCE = 2;
const FORM_BYTES = 1024;

export const inzage = fp(serveInzage, { name: 'inzage', dependencies: ['verwerkingenlog'] });

async function serveInzage(server: FastifyInstance): Promise<void> {
  const { settings: config, clock, publicBaseUrl, log: logger, metrics } = server;
  const pool = server.database.logPool;
  const settings = {
    ...config.inzage,
    links: config.html.links,
    organisation: config.server.organisation ?? 'deze organisatie',
    maxRetention: config.verwerkingenlog.maxRetention,
  };
  const stylesheet = buildStylesheet(HOME, config.html.themeCss);
  const site = createSite(stylesheet.path, settings, readBrand(config));
  server.frontEntries.push({
    href: HOME,
    title: site.name,
    text: 'wat er met uw persoonsgegevens is gedaan; u logt in',
  });
  const signIn = createSignIn({ settings, proxy: config.server, clock });
  const sessions = createSessions({
    ...{ clock, pool, path: HOME, idleMs: settings.idleMs, maxMs: settings.sessionMs, key: settings.sessionKey ?? '' },
    isSecure: () => publicBaseUrl().startsWith('https:'),
  });
  const writer = server.proof('verwerkingen', 'kept');
  const { actieLog } = server;
  const { loggedRead } = server.verwerkingenlog;
  const overviewOptions = { settings, proofAddress: writer === undefined ? undefined : proofAddress };
  const readings = createOpenCounter(AT_ONCE);
  const logins = new Counter({
    name: 'koppelvlak_inzage_logins_total',
    help: 'Citizens who came back from logging in, by result',
    labelNames: ['result'],
    registers: [metrics],
  });

  /** The session, or undefined after a redirect to the front page. */
  const requireSession = async (request: FastifyRequest, reply: FastifyReply): Promise<Session | undefined> => {
    const session = await sessions.read(request, reply);
    if (session === undefined) {
      const notice: Notice = sessions.wasSent(request) ? 'ended' : undefined;
      sessions.forget(reply);
      send(reply, site, frontPage(settings, notice, undefined), 401);
      return undefined;
    }
    // Under a keyed hash: the number itself is not kept.
    readings(actieLog.keys.hash(actieLog.keys.current, 'BSN', session.bsn), request);
    return session;
  };

  const routes = async (app: FastifyInstance): Promise<void> => {
    await app.register(cookie);
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_BYTES },
      (_request, _body, done) => done(null, undefined),
    );
    serveStylesheet(app, () => stylesheet);

    app.get('/', (_request, reply) => send(reply, site, frontPage(settings, undefined, undefined)));

    app.get('/uitgelogd', async (_request, reply) =>
      send(reply, site, frontPage(settings, 'logged-out', await signIn.logoutAddress())),
    );

    app.get(within(LOGIN), async (request, reply) => {
      try {
        const { address, attempt } = await signIn.start(`${publicBaseUrl()}${RETURN}`);
        await sessions.beginLogin(reply, attempt);
        return reply.redirect(address, 303);
      } catch (error) {
        return loginFailed(request, reply, error);
      }
    });

    app.get(within(RETURN), async (request, reply) => {
      const attempt = await sessions.takeLogin(request, reply);
      try {
        if (attempt === undefined) throw new SignInError('response');
        const answer = new URL(`${publicBaseUrl()}${RETURN}`);
        answer.search = request.url.split('?', 2)[1] ?? '';
        await sessions.begin(reply, await signIn.finish(answer, attempt));
        logins.inc({ result: 'ok' });
        return reply.redirect(OVERVIEW, 303);
      } catch (error) {
        return loginFailed(request, reply, error);
      }
    });

    const loginFailed = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
      if (!(error instanceof SignInError)) throw error;
      const { reason, cause } = error;
      logins.inc({ result: reason });
      // Not the error itself: the library's errors contain requests, and even a token with a citizen service number.
      const code = Object(cause).code;
      request.log.warn({ reason, ...(typeof code === 'string' ? { code } : {}) }, 'a citizen could not be logged in');
      return send(reply, site, loginFailedPage(reason), STATUS_OF[reason]);
    };

    app.get(within(OVERVIEW), async (request, reply) => {
      const session = await requireSession(request, reply);
      if (session === undefined) return reply;
      const { asked, faults } = readAsked(request);
      if (faults.length > 0) return send(reply, site, overviewPage({ settings, asked, faults }), 400);
      const selection = { ...asked, byYear: !asked.all, limit: asked.all ? PER_FILE : PER_PAGE };
      const overview = await readOverview({ request, reply, address: OVERVIEW }, session, selection, overviewOptions);
      return send(reply, site, overviewPage({ settings, asked, overview }));
    });

    app.get(`${within(OVERVIEW)}.json`, async (request, reply) => {
      const session = await requireSession(request, reply);
      if (session === undefined) return reply;
      const { asked, faults } = readAsked(request);
      if (faults.length > 0) throw new Problem(platformProblems.invalidRequest, { detail: faults.join(' ') });
      const address = `${publicBaseUrl()}${OVERVIEW}.json`;
      const selection = { ...asked, byYear: false, limit: PER_FILE };
      const overview = await readOverview({ request, reply, address }, session, selection, overviewOptions);
      return reply
        .header('content-disposition', 'attachment; filename="inzage.json"')
        .type('application/json; charset=utf-8')
        .send(`${JSON.stringify(asFile(overview, asked), null, 2)}\n`);
    });

    if (writer !== undefined) {
      proofPages(app, {
        ...{ writer, actieLog, loggedRead, requireSession },
        intervalSeconds: writer.intervalSeconds,
        send: (reply, page, status) => send(reply, site, page, status),
      });
    }

    app.post(within(LOGOUT), async (request, reply) => {
      // Browsers name the origin of a form; the cookie is not sent from elsewhere anyway.
      const from = request.headers['sec-fetch-site'];
      if (from !== undefined && from !== 'same-origin' && from !== 'none') {
        throw new Problem(platformProblems.forbidden, { detail: 'Uitloggen kan alleen vanaf onze eigen pagina.' });
      }
      await sessions.end(request, reply);
      return reply.redirect(`${HOME}/uitgelogd`, 303);
    });
  };

  logger.info({ issuer: settings.issuer, path: HOME }, 'citizens can see what was done with their data');
  server.addHook('onClose', signIn.close);
  await mountPages(server, {
    headers: { 'content-security-policy': SCRIPTLESS_POLICY },
    isPersonal: true,
    prefix: HOME,
    rateLimit: settings.rateLimit,
    site,
    routes,
  });
}

function within(path: string): string {
  return path.slice(HOME.length);
}

/** Never stored anywhere: the headers of every answer say `no-store`. */
function send(reply: FastifyReply, site: Site, page: Page, status = 200): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(renderPage(site, page));
}

function readAsked(request: FastifyRequest): { readonly asked: Asked; readonly faults: readonly string[] } {
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  const text = (name: string): string | undefined => query.get(name)?.trim().slice(0, 200) || undefined;
  const asked: Asked = {
    from: text('van'),
    to: text('tot'),
    activity: text('activiteit')?.toLowerCase(),
    cursor: text('cursor'),
    all: text('alles') === 'ja',
  };
  const faults: string[] = [];
  for (const [name, day] of [
    ['Vanaf deze dag', asked.from],
    ['Tot en met deze dag', asked.to],
  ] as const) {
    // A year below 1000 is a typing error.
    if (day !== undefined && !(/^[12]/.test(day) && isDay(day)))
      faults.push(`Vul bij ‘${name}’ een dag in, zoals 2026-01-31.`);
  }
  if (faults.length === 0 && asked.from !== undefined && asked.to !== undefined && asked.from > asked.to) {
    faults.push('De eerste dag ligt na de laatste dag. Draai ze om.');
  }
  if (asked.activity !== undefined && !UUID.test(asked.activity)) faults.push('Dit doel bestaat niet.');
  return { asked, faults };
}

/** The download: the contents of the page, with the address of the next part. */
function asFile({ count, next, groups, looks, readings }: Overview, { from, to }: Asked): object {
  return {
    uitleg: 'Wat er met uw persoonsgegevens is gedaan. Vertrouwelijke verwerkingen staan er niet in.',
    vanaf: from ?? null,
    totEnMet: to ?? null,
    aantal: count,
    volgende: next,
    doelen: groups,
    inzageDoorAnderen: readings,
    uwEigenInzage: looks
      .filter(({ isOwn }) => isOwn)
      .map(({ actieId, tijdstip, isProof }) => ({
        actieId,
        tijdstip,
        wat: isProof ? 'bewijs' : 'overzicht',
      })),
  };
}
