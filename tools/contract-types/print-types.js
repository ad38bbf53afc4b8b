// Prints the TypeScript types of an OpenAPI document: JSON in, TypeScript out. Separate from the other scripts because
// it needs the API of TypeScript 5, which cannot be installed beside TypeScript 7.
import { text } from 'node:stream/consumers';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const WANTED = ['components', 'operations'];

const nodes = await openapiTS(JSON.parse(await text(process.stdin)), {
  immutable: true,
  emptyObjectsUnknown: true,
  // A caller may omit a member with a default; parameters with one were marked required beforehand.
  defaultNonNullable: false,
});
const wanted = nodes.filter((node) => ts.isInterfaceDeclaration(node) && WANTED.includes(node.name.text));
process.stdout.write(astToString(wanted, { formatOptions: { removeComments: true } }));
