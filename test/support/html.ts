/** The rules for every page for people. */
import { HtmlValidate, type ResolvedConfig, StaticConfigLoader } from 'html-validate';

/** Resolves its rules once: doing so for each page takes a quarter of a validation. */
class RulesOnce extends StaticConfigLoader {
  #resolved: ResolvedConfig | Promise<ResolvedConfig> | undefined;

  override getConfigFor(handle: string): ResolvedConfig | Promise<ResolvedConfig> {
    this.#resolved ??= super.getConfigFor(handle);
    return this.#resolved;
  }
}

const validator = new HtmlValidate(
  new RulesOnce({
    extends: ['html-validate:recommended', 'html-validate:a11y'],
    rules: {
      // A matter of taste: the templates indent as they like.
      'no-trailing-whitespace': 'off',
      'long-title': 'off',
      // The style sheet is our own.
      'require-sri': 'off',
    },
  }),
);

/** Every fault of a page: its line, the rule and the fault. */
export async function htmlFaults(text: string): Promise<string[]> {
  const { results } = await validator.validateString(text);
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message, line }) => `${line} ${ruleId} ${message}`));
}
