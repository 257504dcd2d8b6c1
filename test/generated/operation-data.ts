import type { OperationEntry, OperationTable } from '../../src/admin/operation-table.ts'
import { listServedOperations, operations } from '../../src/management/operations.ts'

const HEAD = '/* Generated from src/management/operations.ts by npm run generate. */\n\n'

/** Generates the files that contain parts of the operation table as data. Returns their text. */
export const generateOperationData = (): ReadonlyMap<string, string> =>
  new Map([
    ['src/management/operation-names.data.ts', generateNames()],
    ['src/client/routes.data.ts', generateRoutes()],
  ])

function generateNames(): string {
  const names = writeTree(operations, () => '1')
  return `${HEAD}/** The names of all operations. The gateway needs them before it loads the operation table. */\nexport const operationNames = ${names} as const\n`
}

function generateRoutes(): string {
  const routes = writeTree(operations, (operation) => `'${writeRoute(operation)}'`)
  const changes = new Map<string, string[]>()
  for (const { names, ifMatch } of listServedOperations())
    if (ifMatch) changes.set(`${names[0]}`, [...(changes.get(`${names[0]}`) ?? []), `'${names[1]}'`])
  const members = [...changes].map(([resource, names]) => `  ${resource}: ${names.join(' | ')}\n`)
  return `${HEAD}/** The route of each operation, with its \`action\` if several operations share the route. */\nexport const routes = ${routes}\n
/** The operations that change one record, by resource. */\nexport interface IfMatchOperations {\n${members.join('')}}\n`
}

const writeRoute = ({ method, path, action }: OperationEntry) =>
  `${method} ${path}${action === undefined ? '' : ` ${action}`}`

function writeTree(table: OperationTable, write: (operation: OperationEntry) => string, indent = '  '): string {
  const lines = Object.entries(table).map(([name, entry]) => {
    const isOperation = (item: typeof entry): item is OperationEntry => typeof item.path === 'string'
    return `${indent}${name}: ${isOperation(entry) ? write(entry) : writeTree(entry, write, `${indent}  `)},\n`
  })
  return `{\n${lines.join('')}${indent.slice(2)}}`
}
