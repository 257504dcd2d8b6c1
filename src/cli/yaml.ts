import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'

/** Maximum number of aliases in one file: more than any configuration has, and few enough to expand quickly. */
const MAX_ALIASES = 10_000

/**
 * Parses YAML with anchors, aliases, and `<<` merges, like Docker Compose. Throws an error with a one-line message that names the line and column.
 */
export function parseYaml(text: string): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text, { merge: true, lineCounter: lines })
  const [mistake] = document.errors
  if (mistake) throw mistake
  checkReferences(document, (start = 0, reason) => {
    const { line, col } = lines.linePos(start)
    return new SyntaxError(`${reason} at line ${line}, column ${col}`)
  })
  return document.toJS({ maxAliasCount: MAX_ALIASES })
}

/** Throws if an alias or a merge can't be resolved. The parser itself detects this too late to know the position. */
function checkReferences(document: Document, fail: (start: number | undefined, reason: string) => Error): void {
  const resolve = (alias: Alias) => alias.resolve(document)
  visit(document, {
    Alias(_, alias, ancestors) {
      const node = resolve(alias)
      if (!node) throw fail(alias.range?.[0], `No anchor "&${alias.source}" found before "*${alias.source}"`)
      if (ancestors.includes(node)) throw fail(alias.range?.[0], `"*${alias.source}" is nested inside its own anchor`)
    },
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.source !== '<<' || key.type !== 'PLAIN') return
      const source = isAlias(value) ? resolve(value) : value
      const merged = isSeq(source) ? source.items.map((item) => (isAlias(item) ? resolve(item) : item)) : [source]
      const isUnresolved = merged.includes(undefined) // the alias check reports this case
      if (!isUnresolved && !merged.every(isMap)) throw fail(key.range?.[0], '"<<" must be a map or a list of maps')
    },
  })
}
