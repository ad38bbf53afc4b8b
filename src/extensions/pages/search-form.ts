/** The field to search in, on every page that offers it. */
import { type Html, html } from '../../plugins/html/template.ts';
import { HOME } from './context.ts';
import { QUERY_LENGTH } from './search/fold.ts';

/** @param hidden filters that the search keeps */
export function searchForm(typed = '', hidden: Readonly<Record<string, string | undefined>> = {}): Html {
  return html`<form class="kv-search" action="${HOME}/zoeken" method="get" role="search">
<div class="kv-search__words"><label for="q">Zoek in vergaderingen, agendapunten en documenten</label>
<input class="utrecht-textbox utrecht-textbox--html-input" id="q" name="q" type="search" maxlength="${QUERY_LENGTH}" value="${typed}" autocomplete="off"></div>
${Object.entries(hidden).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}
<button class="utrecht-button utrecht-button--primary-action" type="submit">Zoeken</button>
</form>`;
}
