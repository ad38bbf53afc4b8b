/** Every scope of the areas that ask for a token: the data exchange (`read`), then the processing log. */
export const readScope = 'read';

export const processingLogScopes = [
  'create:normal',
  'create:confidential',
  'read:restricted',
  'read:normal',
  'read:confidential',
  'update:normal',
  'update:confidential',
  'delete:normal',
  'delete:confidential',
  'register:write',
] as const;

export const allScopes: readonly string[] = [readScope, ...processingLogScopes];
