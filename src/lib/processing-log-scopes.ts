/** The scopes of the standard for logging processing, and `register:write`, which is ours. */
export const PROCESSING_LOG_SCOPES = [
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
