import { posix } from 'node:path'
import ts from 'typescript'

export interface Import {
  /** A path from the repository root, or a package name as written. */
  readonly target: string
  readonly isTypeOnly: boolean
  readonly line: number
}

/** A name that is used but not declared in the file (see `nameOf`). */
export interface Ambient {
  readonly name: string
  readonly line: number
}

export interface Source {
  readonly path: string
  readonly imports: Import[]
  readonly ambients: Ambient[]
  /** Lines with the `any` type. */
  readonly anys: number[]
  /** Lines that assign a function to a member. */
  readonly assigned: number[]
  /** Lines with comments that silence the compiler. */
  readonly silenced: number[]
}

/** Skips JSDoc parsing, because comments are read as text. */
const READING = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }

/**
 * Collects the facts about a file that the rules need. Looks up only the ambient names that `isAsked` accepts, because each lookup searches all
 * scopes.
 */
export function parseSource(path: string, text: string, isAsked: (name: string) => boolean): Source {
  const file = ts.createSourceFile(path, text, READING, true)
  const getLine = (node: ts.Node) => file.getLineAndCharacterOfPosition(node.getStart()).line + 1
  const imports: Import[] = []
  const ambients: Ambient[] = []
  const anys: number[] = []
  const assigned: number[] = []

  const visit = (node: ts.Node): void => {
    const imported = getImport(node)
    if (imported)
      imports.push({ target: resolve(path, imported.from), isTypeOnly: imported.isTypeOnly, line: getLine(node) })
    if (node.kind === ts.SyntaxKind.AnyKeyword) anys.push(getLine(node))
    if (isAssignedFunction(node)) assigned.push(getLine(node))
    if (ts.isIdentifier(node) && isAsked(getName(node)) && isUse(node) && !isDeclared(node))
      ambients.push({ name: getName(node), line: getLine(node) })
    ts.forEachChild(node, visit)
  }
  visit(file)

  return {
    path,
    imports,
    ambients,
    anys,
    assigned,
    silenced: text.split('\n').flatMap((line, index) => (/@ts-(?:ignore|nocheck)/.test(line) ? [index + 1] : [])),
  }
}

function resolve(path: string, from: string): string {
  return from.startsWith('.') ? posix.join(posix.dirname(path), from) : from
}

/** Matches `object.member = () => {}`, including `??=` and function expressions. */
function isAssignedFunction(node: ts.Node): boolean {
  return (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
    (ts.isPropertyAccessExpression(node.left) || ts.isElementAccessExpression(node.left)) &&
    (ts.isArrowFunction(node.right) || ts.isFunctionExpression(node.right))
  )
}

function getImport(node: ts.Node): { from: string; isTypeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) return literal(node.moduleSpecifier, isTypeClause(node.importClause))
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) return literal(node.moduleSpecifier, node.isTypeOnly)
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return literal(node.argument.literal, true)
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return literal(node.arguments[0], false)
  return undefined
}

function isTypeClause(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false
  const named = clause.namedBindings
  const areAllTypes = named && ts.isNamedImports(named) && named.elements.every((element) => element.isTypeOnly)
  return clause.isTypeOnly || (!clause.name && areAllTypes === true)
}

function literal(input: ts.Node | undefined, isTypeOnly: boolean) {
  const node = input && ts.isAsExpression(input) ? input.expression : input
  if (node && ts.isStringLiteralLike(node)) return { from: node.text, isTypeOnly }
  return { from: 'a computed path', isTypeOnly }
}

/** Returns `Date.now`, `new Date()` if it reads the clock, `fetch` for `globalThis.fetch`, or otherwise the plain name. */
function getName(node: ts.Identifier): string {
  const { parent, text } = node
  if (ts.isNewExpression(parent) && parent.expression === node && !parent.arguments?.length) return `new ${text}()`
  const isObject = ts.isPropertyAccessExpression(parent) && parent.expression === node
  if (isObject && /^(?:globalThis|self|window)$/.test(text)) return parent.name.text
  return isObject && /^(?:Date|Math)$/.test(text) ? `${text}.${parent.name.text}` : text
}

/** Returns whether this identifier reads a value, rather than naming a property, a label, a declaration, or a type. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent)) return nodeIsLeft(node)
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  if (ts.isBindingElement(parent) || ts.isVariableDeclaration(parent) || ts.isParameter(parent))
    return parent.initializer === node
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent)) return false
  if (ts.isTypeElement(parent) || ts.isClassElement(parent) || ts.isTypeParameterDeclaration(parent)) return false
  return !ts.isPartOfTypeNode(node) && !ts.findAncestor(node, ts.isTypeNode)
}

function nodeIsLeft(node: ts.Identifier): boolean {
  const { parent } = node
  return ts.isPropertyAccessExpression(parent) && parent.expression === node
}

/** Returns whether a scope around the use declares the name. */
function isDeclared(node: ts.Identifier): boolean {
  return ts.findAncestor(node.parent, (scope) => findDeclared(scope).includes(node.text)) !== undefined
}

const declarations = new WeakMap<ts.Node, string[]>()

function findDeclared(scope: ts.Node): string[] {
  const known = declarations.get(scope)
  if (known) return known
  const names: string[] = []
  const add = (name: ts.BindingName | ts.Identifier | undefined): void => {
    if (!name) return
    if (ts.isIdentifier(name)) names.push(name.text)
    else for (const element of name.elements) if (ts.isBindingElement(element)) add(element.name)
  }
  const addList = (list: ts.VariableDeclarationList) => {
    for (const declaration of list.declarations) add(declaration.name)
  }
  if (ts.isFunctionLike(scope)) for (const parameter of scope.parameters) add(parameter.name)
  if (ts.isCatchClause(scope)) add(scope.variableDeclaration?.name)
  if (ts.isForStatement(scope) || ts.isForOfStatement(scope) || ts.isForInStatement(scope)) {
    if (scope.initializer && ts.isVariableDeclarationList(scope.initializer)) addList(scope.initializer)
  }
  const statements =
    ts.isSourceFile(scope) || ts.isBlock(scope) || ts.isCaseOrDefaultClause(scope) ? scope.statements : []
  for (const statement of statements) {
    if (ts.isVariableStatement(statement)) addList(statement.declarationList)
    else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) add(statement.name)
    else if (ts.isImportDeclaration(statement)) {
      add(statement.importClause?.name)
      const named = statement.importClause?.namedBindings
      if (named && ts.isNamespaceImport(named)) add(named.name)
      else if (named) for (const element of named.elements) add(element.name)
    }
  }
  declarations.set(scope, names)
  return names
}
