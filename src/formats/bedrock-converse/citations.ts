import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import { defined } from '../canonical/defined.ts'
import { textIn } from '../canonical/text-in.ts'

/** A citation of a text, whole or in a stream; one that names no place is left out. */
export function parseCitation({ title, source, sourceContent, location }: JsonObject): Citation | undefined {
  const where = isObject(location) ? location : {}
  const web = isObject(where.web) ? where.web : {}
  const [kind, spot] = Object.entries(where).find(([name]) => Object.hasOwn(units, name)) ?? []
  const unit = kind === undefined ? undefined : units[kind]
  const { documentIndex, start, end } = isObject(spot) ? spot : {}
  const url = textIn(web.url) ?? textIn(source)
  if (url === undefined && unit === undefined) return undefined
  return defined<Citation>({
    url,
    title: textIn(title) ?? textIn(web.domain),
    quote: quoteOf(sourceContent),
    document: typeof documentIndex === 'number' ? documentIndex : undefined,
    place: unit && typeof start === 'number' && typeof end === 'number' ? { unit, start, end } : undefined,
  })
}

/** What Converse counts places in. */
const units: Readonly<Record<string, NonNullable<Citation['place']>['unit']>> = {
  documentChar: 'character',
  documentPage: 'page',
  documentChunk: 'block',
  searchResultLocation: 'block',
}

function quoteOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap((piece: unknown) => (isObject(piece) ? (textIn(piece.text) ?? []) : []))
  return texts.length > 0 ? texts.join('') : undefined
}
