import { list, optionalInstant, url } from './kinds.ts';

const PAGE = { schemes: ['https'], exact: true } as const;

/** What `/.well-known/security.txt` (RFC 9116) says. */
export const securitySettings = {
  contact: list('SECURITY_CONTACT', {
    item: /^(mailto:[^\s@,]+@[^\s@,]+|https:\/\/[^\s,@]+|tel:\+?[0-9-]+)$/,
    allowed: 'comma list of addresses with `mailto:`, `https:` or `tel:`',
    description:
      'Where to report a vulnerability, the preferred way first: `Contact` in `/.well-known/security.txt`. Absent: that file is 404.',
  }),
  expires: optionalInstant('SECURITY_EXPIRES', {
    description:
      'Until when that file may be relied on (`Expires`; at most a year ahead is advised). Needed with `SECURITY_CONTACT`; after it the file is 404.',
  }),
  policy: url('SECURITY_POLICY', { ...PAGE, description: 'Page that says how reports are handled (`Policy`).' }),
  encryption: url('SECURITY_ENCRYPTION', {
    schemes: ['https', 'dns', 'openpgp4fpr'],
    exact: true,
    description: 'Where the key is that reports can be encrypted with (`Encryption`).',
  }),
  acknowledgments: url('SECURITY_ACKNOWLEDGMENTS', {
    ...PAGE,
    description: 'Page that thanks those who reported (`Acknowledgments`).',
  }),
  languages: list('SECURITY_LANGUAGES', {
    item: /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/,
    allowed: 'comma list of language tags, such as `nl,en`',
    description: 'Languages in which reports are read (`Preferred-Languages`).',
  }),
};
