import { existsSync } from 'node:fs';

/** The built-in exchange models: `VARIANT-VERSION.schema.json`, each with its mapping beside it. */
export const modelsDirectory = new URL('../../../openapi/modellen/', import.meta.url);

export const defaultModels = { shv: '1.0', vs: '1.1' } as const;

/** The file of a built-in model, or `undefined` when the name is not one: then it is a path. */
export function builtInModel(variant: 'shv' | 'vs', name: string): URL | undefined {
  if (!/^[0-9][0-9a-z.-]*$/.test(name)) return undefined;
  const file = new URL(`${variant}-${name}.schema.json`, modelsDirectory);
  return existsSync(file) ? file : undefined;
}
