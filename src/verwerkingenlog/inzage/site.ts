/** The addresses, and the pages that need no session. */
import type { FastifyReply } from 'fastify';
import { alert, heading, link, type Page, paragraph } from '../../html/page.ts';
import { type Html, html, safeUrl } from '../../lib/template.ts';
import type { Config } from '../../settings/read-config.ts';
import type { SignInFailure } from './sign-in.ts';

export const HOME = '/inzage';
export const OVERVIEW = `${HOME}/overzicht`;
export const LOGIN = `${HOME}/inloggen`;
export const RETURN = `${HOME}/terug`;
export const LOGOUT = `${HOME}/uitloggen`;

/** With the name of the organisation that runs these pages. */
export type Settings = Config['inzage'] & {
  readonly organisation: string;
  readonly links: Config['html']['links'];
  /** The term of entries without a term of their own. */
  readonly maxRetention: Config['verwerkingenlog']['maxRetention'];
};

export type SendPage = (reply: FastifyReply, page: Page, status?: number) => FastifyReply;

/** @param notice why the visitor was redirected here @param logoutAddress where to log out at the provider too */
export function frontPage(
  settings: Settings,
  notice: 'ended' | 'logged-out' | undefined,
  logoutAddress: string | undefined,
): Page {
  return {
    title: 'Inzage in uw gegevens',
    description: 'Bekijk wat er met uw persoonsgegevens is gedaan.',
    body: [
      heading(1, 'Wat is er met uw gegevens gedaan?'),
      notice === 'ended' &&
        alert('warning', 'U bent uitgelogd, omdat u een tijd niets deed of al lang was ingelogd. Log opnieuw in.'),
      notice === 'logged-out' && alert('info', loggedOut(logoutAddress)),
      paragraph(
        `Als ${settings.organisation} uw persoonsgegevens bekijkt, verandert of aan iemand geeft, dan schrijven wij dat op. Hier ziet u wat wij over u hebben opgeschreven.`,
      ),
      html`<p class="utrecht-paragraph utrecht-paragraph--distanced"><a class="utrecht-button utrecht-button--primary-action" href="${LOGIN}">Inloggen</a></p>`,
      heading(2, 'Wat u moet weten'),
      html`<ul>
<li>U logt in met uw eigen inlogmiddel. Wij krijgen dan uw burgerservicenummer.</li>
<li>Ook dat u hier kijkt, schrijven wij op. U ziet dat terug.</li>
<li>Doet u ${minutes(settings.idleMs)} niets? Dan logt u vanzelf uit.</li>
<li>Wij bewaren van uw bezoek één cookie. Die is weg als u uitlogt.</li>
</ul>`,
    ],
  };
}

function loggedOut(logoutAddress: string | undefined): Html {
  const address = safeUrl(logoutAddress);
  return html`U bent uitgelogd.${address !== undefined && html` Gebruiken meer mensen deze computer? ${link(address, 'Log dan ook uit waar u inlogde')}.`}`;
}

function minutes(milliseconds: number): string {
  const count = Math.round(milliseconds / 60_000);
  return count === 1 ? '1 minuut' : `${count} minuten`;
}

const REASONS: Readonly<Record<SignInFailure, string>> = {
  unavailable: 'Inloggen kan nu niet. Probeer het over een paar minuten opnieuw.',
  refused: 'U bent niet ingelogd. Misschien hebt u het inloggen gestopt. U kunt het opnieuw proberen.',
  response: 'Inloggen is niet gelukt. Misschien duurde het te lang, of had u twee vensters open. Probeer het opnieuw.',
  level: 'U hebt op een te laag niveau ingelogd. Log opnieuw in en kies een manier die veiliger is.',
  'no-bsn': 'Inloggen is niet gelukt: wij kregen geen burgerservicenummer. Kies een andere manier van inloggen.',
};

export const STATUS_OF = { unavailable: 503, refused: 403, response: 400, level: 403, 'no-bsn': 403 } as const;

export function loginFailedPage(reason: SignInFailure): Page {
  return {
    title: 'Inloggen is niet gelukt',
    description: 'Inloggen is niet gelukt.',
    path: [{ href: HOME, text: 'Begin' }],
    body: [
      heading(1, 'Inloggen is niet gelukt'),
      alert('error', REASONS[reason]),
      html`<p class="utrecht-paragraph utrecht-paragraph--distanced"><a class="utrecht-button utrecht-button--primary-action" href="${LOGIN}">Opnieuw inloggen</a></p>`,
    ],
  };
}
