// Prints the TypeScript types of the operations and schemas of a contract: JSON in, TypeScript out. Separate from the
// other scripts because it needs the API of TypeScript 5, which cannot be installed beside TypeScript 7.
import { text } from 'node:stream/consumers';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const { operations, schemas } = JSON.parse(await text(process.stdin));
const properties = operations;
const nodes = await openapiTS(
  {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: {},
    components: {
      schemas: { ...schemas, operations: { type: 'object', properties, required: Object.keys(properties) } },
    },
  },
  {
    immutable: true,
    emptyObjectsUnknown: true,
    // A caller may omit a member with a default; parameters with one were marked required beforehand.
    defaultNonNullable: false,
  },
);

/** The member of this name in an interface or a type. */
const member = (type, name) => type.members.find((one) => one.name.text === name);
const components = nodes.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components');
const typed = member(components, 'schemas');
const isOperations = (one) => one.name.text === 'operations';
const declare = (name, members) => ts.factory.createInterfaceDeclaration(components.modifiers, name, [], [], members);
const withoutOperations = ts.factory.createTypeLiteralNode(typed.type.members.filter((one) => !isOperations(one)));
process.stdout.write(
  astToString(
    [
      declare('components', [
        ts.factory.createPropertySignature(typed.modifiers, typed.name, typed.questionToken, withoutOperations),
      ]),
      declare('operations', typed.type.members.find(isOperations).type.members),
    ],
    { formatOptions: { removeComments: true } },
  ),
);
