import { getCatalogAlias } from '../../src/protocols/providers/provider-names.ts'
import type { Catalog, CatalogProvider } from '../../src/types.ts'

/** The name of each format in the table. */
const FORMATS = {
  'openai-chat': 'Chat Completions',
  'openai-responses': 'Responses',
  'anthropic-messages': 'Messages',
  gemini: 'Gemini',
  'bedrock-converse': 'Converse',
}

/** Generates the table in docs/src/content/docs/reference/providers.md: every chat provider in the catalog, by its model prefix. */
export function providerTable(catalog: Catalog): string {
  const rows = Object.entries(catalog)
    .filter(([, definition]) => servesChats(definition))
    .map(([id, definition]): [string, string, string] => {
      return [
        getPrefixes(id, definition)
          .map((prefix) => `\`${prefix}/\``)
          .join(', '),
        definition.name ?? id,
        getFormats(definition),
      ]
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return table([['Prefix', 'Provider', 'API format'], ...rows])
}

/** Returns a provider's model prefixes, without the slash. The prefix that model lists use comes first. */
export function getPrefixes(id: string, definition: CatalogProvider): string[] {
  const alias = getCatalogAlias(id, definition)
  return alias === id ? [id] : [alias, id]
}

export const servesChats = ({ serviceKinds = ['llm'] }: CatalogProvider) => serviceKinds.includes('llm')

function getFormats({ format = 'openai-chat', formats = {}, alsoSpeaks = [] }: CatalogProvider): string {
  const all = new Set([format, ...alsoSpeaks, ...Object.values(formats)])
  return [...all].map((value) => FORMATS[value]).join(', ')
}

function table([head = [], ...body]: string[][]): string {
  const widths = head.map((_, index) => Math.max(...[head, ...body].map((row) => row[index]?.length ?? 0)))
  const line = (row: string[]) => `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}
