import { type Attributes, attributeText } from '../answers/attributes.ts';
import type { Names } from '../answers/organisation.ts';
import type { IssueSink } from '../issue-log.ts';

/**
 * The attribute that the organisation labels so. Where no attribute has the label, the one with the usual id, unless the
 * organisation calls that something else.
 */
export function labelledText(
  attributes: Attributes,
  label: string,
  usualId: string,
  labels: Names | undefined,
  issue: IssueSink,
): string | undefined {
  const ids = [...(labels ?? [])].filter(([, name]) => name.toLowerCase() === label.toLowerCase()).map(([id]) => id);
  if (ids.length === 0) return attributeText(attributes, usualId, issue);
  return ids.map((id) => attributeText(attributes, id, issue)).find((value) => value !== undefined);
}
