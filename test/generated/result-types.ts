import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { OperationTable } from '../../src/admin/operation-table.ts'
import { operations } from '../../src/management/operations.ts'
import { usageLimits } from '../../src/types/records/limit-fields.ts'
import { prices } from '../../src/types/records/price-fields.ts'
import type { RecordField } from '../../src/types/records/record-fields.ts'
import type { Shape } from '../../src/types/records/shapes.ts'

/** The file that contains all result types. */
export const RESULT_TYPES = 'src/admin/http/openapi/result-types.data.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const MANAGEMENT = 'src/management/operations.ts'
const ACCOUNT = 'src/features/limits/account-reader.ts'

/** Types whose name in the OpenAPI document is different. */
const documentNames: Readonly<Record<string, string>> = {
  KeyView: 'ApiKey',
  MaskedKey: 'HintedApiKey',
  CreatedKey: 'NewApiKey',
  GroupView: 'KeyGroup',
  GuardView: 'Guard',
  AccountView: 'AppAccount',
  ConnectionView: 'Connection',
  SummaryRow: 'UsageRow',
}

/** The names of shapes that are components of the document. */
const shapeNames = new Map<Shape, string>([
  [usageLimits, 'Limits'],
  [prices, 'Price'],
])

/** Types that are components of the document. */
const components = new Set([
  ...[
    'ApiKey',
    'HintedApiKey',
    'NewApiKey',
    'KeyGroup',
    'Combo',
    'ComboModel',
    'Connection',
    'CustomModel',
    'Provider',
  ],
  ...[
    'Settings',
    'LimitState',
    'HealthEntry',
    'TargetState',
    'DamagedRecord',
    'StoredRequest',
    'UsageTotals',
    'UsageRow',
  ],
  ...['Guard', 'AppAccount', 'Price', 'CatalogReview'],
  ...['Explanation', 'CloudConflict', 'CloudState', 'CloudSession', 'Overview', 'GatewayInfo'],
])

/** Generates the result types of all operations in TypeScript syntax, from the declarations in src/. */
export async function generateResultTypes(): Promise<string> {
  const { config } = ts.readConfigFile(`${root}tsconfig.base.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram([root + MANAGEMENT, root + ACCOUNT], options)
  const checker = program.getTypeChecker()
  const types = new Map([['Success', '{success:true}']])
  const shapes = await readShapes(program)

  function findInterface(file: string, name: string): ts.InterfaceDeclaration {
    const isMeant = (node: ts.Statement) => ts.isInterfaceDeclaration(node) && node.name.text === name
    const found = program.getSourceFile(root + file)?.statements.find(isMeant)
    if (!found || !ts.isInterfaceDeclaration(found)) throw new Error(`${file} has no interface ${name}.`)
    return found
  }

  const management = findInterface(MANAGEMENT, 'Management')

  function printOperations(table: OperationTable, type: ts.Type, names: readonly string[] = []): void {
    for (const [name, entry] of Object.entries(table)) {
      const property = type.getProperty(name)
      if (!property) throw new Error(`The interface Management has no ${[...names, name].join('.')}.`)
      const inner = checker.getTypeOfSymbolAtLocation(property, management)
      if (typeof entry.path !== 'string') printOperations(entry as OperationTable, inner, [...names, name])
      else {
        const signature = inner.getCallSignatures().at(-1)
        const result = signature && checker.getAwaitedType(signature.getReturnType())
        if (!result) throw new Error(`${name} is not a function.`)
        const text = printType(result)
        types.set([...names, name].join('.'), text)
      }
    }
  }

  function printType(type: ts.Type): string {
    const symbol = type.aliasSymbol ?? type.getSymbol()
    const name = symbol && (documentNames[symbol.name] ?? symbol.name)
    if (name === undefined || !components.has(name)) return printContent(type)
    if (!types.has(name)) {
      types.set(name, '') // a type may refer to itself
      const text = printContent(type)
      types.delete(name)
      types.set(name, text)
    }
    return name
  }

  function printContent(type: ts.Type): string {
    if (type.isUnion()) return printUnion(type.types)
    if (type.isStringLiteral()) return `'${type.value}'`
    if (type.flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(type)
    if (
      type.flags &
      (ts.TypeFlags.String | ts.TypeFlags.Number | ts.TypeFlags.Boolean | ts.TypeFlags.Null | ts.TypeFlags.Unknown)
    )
      return checker.typeToString(type)
    if (checker.isArrayType(type))
      return printArray(printType(checker.getIndexTypeOfType(type, ts.IndexKind.Number) ?? type))
    const values = type.getStringIndexType()
    if (values) return printRecord(printType(values))
    const fields = findShapes(type)
    const texts = checker.getPropertiesOfType(type).map((property) => printProperty(property, fields))
    const text = `{${texts.join(',')}}`
    return text === types.get('Success') ? 'Success' : text
  }

  function printProperty(property: ts.Symbol, fields: FieldShapes): string {
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
    return `${property.name}${isOptional ? '?' : ''}:${printPropertyType(property, fields)}`
  }

  function printPropertyType(property: ts.Symbol, fields: FieldShapes): string {
    const declaration = property.declarations?.[0]
    if (declaration && ts.isPropertySignature(declaration) && declaration.type && !isGeneric(declaration))
      return printNode(declaration.type)
    const shape = fields.get(property.name)
    if (shape) return printShape(shape, checker.getNonNullableType(checker.getTypeOfSymbol(property)))
    return printType(checker.getNonNullableType(checker.getTypeOfSymbol(property)))
  }

  /** Returns the shapes of a type's fields, if the type is derived from a record description. */
  function findShapes(type: ts.Type): FieldShapes {
    const found: FieldShapes = new Map()
    const visit = (node: ts.Node): void => {
      if (ts.isTypeQueryNode(node)) {
        const fields = shapes.get(node.exprName.getText())
        for (const [name, shape] of fields ?? []) found.set(name, shape)
      } else if (ts.isTypeReferenceNode(node)) visitSymbol(checker.getSymbolAtLocation(node.typeName))
      ts.forEachChild(node, visit)
    }
    const visitSymbol = (symbol: ts.Symbol | undefined): void => {
      const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      for (const declaration of target?.declarations ?? []) {
        if (!ts.isInterfaceDeclaration(declaration)) continue
        for (const { types: parents } of declaration.heritageClauses ?? [])
          for (const parent of parents) {
            visitSymbol(checker.getSymbolAtLocation(parent.expression))
            for (const argument of parent.typeArguments ?? []) visit(argument)
          }
      }
    }
    for (const item of type.isIntersection() ? type.types : [type]) visitSymbol(item.getSymbol())
    return found
  }

  const isGeneric = (declaration: ts.PropertySignature) =>
    ts.isInterfaceDeclaration(declaration.parent) && (declaration.parent.typeParameters?.length ?? 0) > 0

  function printNode(node: ts.TypeNode): string {
    if (ts.isParenthesizedTypeNode(node)) return printNode(node.type)
    if (ts.isUnionTypeNode(node)) return joinTypes(node.types.map(printNode))
    if (ts.isArrayTypeNode(node)) return printArray(printNode(node.elementType))
    if (ts.isTypeOperatorNode(node)) return printNode(node.type)
    if (ts.isTypeLiteralNode(node)) return printContent(checker.getTypeFromTypeNode(node))
    if (ts.isTypeReferenceNode(node)) {
      const name = node.typeName.getText()
      if (name === 'Integer') return 'integer'
      if (name === 'IsoTime') return 'time'
      const [first, second] = node.typeArguments ?? []
      if (name === 'Record' && second && first?.getText() === 'string') return printRecord(printNode(second))
      if (name === 'Readonly' && first) return printNode(first)
      const alias = checker.getSymbolAtLocation(node.typeName)
      const target = alias && alias.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(alias) : alias
      const declared = components.has(name) ? undefined : target?.declarations?.find(ts.isTypeAliasDeclaration)
      if (declared && !declared.typeParameters && ts.isUnionTypeNode(declared.type)) return printNode(declared.type)
    }
    return printType(checker.getTypeFromTypeNode(node))
  }

  const printUnion = (members: readonly ts.Type[]) => {
    const present = members.filter((member) => !(member.flags & ts.TypeFlags.Undefined))
    const texts = present.map(printType)
    const isBoolean = texts.includes('true') && texts.includes('false')
    return joinTypes(isBoolean ? [...texts.filter((text) => text !== 'true' && text !== 'false'), 'boolean'] : texts)
  }

  /** Prints a shape. `type` is the type of the value. It may require fields that are optional in the record. */
  function printShape(shape: Shape, type?: ts.Type): string {
    switch (shape.type) {
      case 'text':
        return 'string'
      case 'flag':
        return 'boolean'
      case 'tag':
        return 'string | boolean'
      case 'time':
        return 'time'
      case 'number':
        return shape.isInteger ? 'integer' : 'number'
      case 'choice':
        return joinTypes([
          ...[...shape.of, ...(shape.disallowed ?? [])].map((value) => `'${value}'`),
          ...(shape.orObject ? [printShape(shape.orObject)] : []),
        ])
      case 'list':
        return printArray(printShape(shape.of))
      case 'map':
        return printRecord(printShape(shape.of))
      case 'object': {
        const name = shapeNames.get(shape)
        if (name !== undefined && types.has(name)) return name
        const fields = Object.entries(shape.fields).map(([field, { shape, isOptional }]) => {
          const flags = type?.getProperty(field)?.flags ?? ts.SymbolFlags.Optional
          return `${field}${isOptional && flags & ts.SymbolFlags.Optional ? '?' : ''}:${printShape(shape)}`
        })
        const text = `{${fields.join(',')}}`
        if (name !== undefined) types.set(name, text)
        return name ?? text
      }
      case 'entry':
        return 'ComboModel'
    }
  }

  printOperations(operations, checker.getTypeAtLocation(management))
  for (const name of ['Account', 'OpenRouterKey', 'OpenRouterCredits'])
    types.set(name, printContent(checker.getTypeAtLocation(findInterface(ACCOUNT, name))))
  const lines = [...types].map(([name, text]) => `${name} = ${text}`)
  return `${HEAD}export const resultTypes = \`${lines.join('\n')}\`\n`
}

const HEAD = `/* Generated from the types in src/ by npm run generate. */

/** The result types of all operations, by operation name, and the named types they use. */
`

const printRecord = (values: string) => (values === 'unknown' ? 'object' : `Record<${values}>`)
const printArray = (item: string) => (item.includes('|') ? `(${item})[]` : `${item}[]`)
const joinTypes = (texts: readonly string[]) => [...new Set(texts)].join('|')

type FieldShapes = Map<string, Shape>

/** Reads the shapes of each record's fields, by the name of the description, such as `keyFields`. */
async function readShapes(program: ts.Program): Promise<Map<string, FieldShapes>> {
  const shapes = new Map<string, FieldShapes>()
  for (const { fileName } of program.getSourceFiles()) {
    if (!/\/src\/types\/records\/[\w-]+-fields\.ts$/.test(fileName)) continue
    const module: Record<string, Record<string, RecordField>> = await import(fileName)
    for (const [name, fields] of Object.entries(module))
      if (name.endsWith('Fields'))
        shapes.set(name, new Map(Object.entries(fields).map(([field, { shape }]) => [field, shape])))
  }
  return shapes
}
