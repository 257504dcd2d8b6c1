import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import { defined } from '../canonical/defined.ts'
import { textIn } from '../canonical/text-in.ts'
import { type Offsets, offsetsOf } from './utf8-offsets.ts'

/** A text of an answer that may be cited for. */
export interface CitedText {
  key: number
  text: string
  /** Which of the candidate's parts it began with. */
  partIndex: number
}

export type Found = { key: number; citation: Citation }

/** What a candidate says of its sources, on the texts that they support. */
export function parseGrounding(candidate: JsonObject, texts: readonly CitedText[]): Found[] {
  const last = texts.at(-1)
  if (!last) return []
  const offsets = new Map<CitedText, Offsets>()
  const { groundingMetadata: grounding, citationMetadata: quoted } = candidate
  const found = isObject(grounding) ? parseSupports(grounding, { texts, last, offsets }) : []
  for (const entry of quotedFrom(quoted)) {
    if (!isObject(entry) || typeof entry.uri !== 'string') continue
    found.push({ key: last.key, citation: { ...parseSource(entry), ...spanIn(last, entry, offsets) } })
  }
  return found
}

/** Does a candidate say of any source? Often it only says what was looked for. */
export function namesSources({ groundingMetadata: grounding, citationMetadata: quoted }: JsonObject): boolean {
  const lists = [isObject(grounding) && grounding.groundingChunks, quotedFrom(quoted)]
  return lists.some((list) => Array.isArray(list) && list.length > 0)
}

/** Whom the answer quotes without being asked to: one list of two names, that of the Gemini API and that of Vertex. */
function quotedFrom(quoted: unknown): unknown[] {
  const list = isObject(quoted) ? (quoted.citationSources ?? quoted.citations) : undefined
  return Array.isArray(list) ? list : []
}

interface Texts {
  texts: readonly CitedText[]
  last: CitedText
  offsets: Map<CitedText, Offsets>
}

function parseSupports(grounding: JsonObject, { texts, last, offsets }: Texts): Found[] {
  const chunks: unknown[] = Array.isArray(grounding.groundingChunks) ? grounding.groundingChunks : []
  const sources = chunks.map((chunk) => (isObject(chunk) ? parseSource(holderIn(chunk)) : {}))
  const supports: unknown[] = Array.isArray(grounding.groundingSupports) ? grounding.groundingSupports : []
  const cite = (source: Citation | undefined, key: number, span: Span | undefined): Found[] =>
    source && Object.keys(source).length > 0 ? [{ key, citation: { ...source, ...span } }] : []
  if (supports.length === 0) return sources.flatMap((source) => cite(source, last.key, undefined))
  return supports.flatMap((support) => {
    if (!isObject(support)) return []
    const indices: unknown[] = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : []
    const segment = isObject(support.segment) ? support.segment : {}
    const { key, span } = locate(segment, { texts, last, offsets })
    return indices.flatMap((index) => cite(typeof index === 'number' ? sources[index] : undefined, key, span))
  })
}

/** A page, a document of the client's, or a place on the map. */
function holderIn({ web, retrievedContext, maps, image }: JsonObject): JsonObject {
  return Object.assign({}, ...[image, maps, retrievedContext, web].filter(isObject))
}

const parseSource = ({ uri, title, text }: JsonObject): Citation =>
  defined<Citation>({ url: textIn(uri), title: textIn(title), quote: textIn(text) })

interface Span {
  start: number
  end: number
}

/**
 * Where a segment is. Its offsets are of a part whose index is not always told, and parts of a stream are joined; so what it quotes decides,
 * if it quotes anything.
 */
function locate(segment: JsonObject, { texts, last, offsets }: Texts): { key: number; span: Span | undefined } {
  const { text: quote, partIndex = 0 } = segment
  const own = texts.find((text) => text.partIndex === partIndex)
  const likely = own ? [own, ...texts.filter((text) => text !== own)] : texts
  if (typeof quote !== 'string' || quote === '') {
    const holder = own ?? last
    return { key: holder.key, span: spanIn(holder, segment, offsets) }
  }
  for (const holder of likely) {
    const span = spanIn(holder, segment, offsets)
    if (span && holder.text.slice(span.start, span.end) === quote) return { key: holder.key, span }
  }
  for (const holder of likely) {
    const start = holder.text.indexOf(quote)
    if (start !== -1) return { key: holder.key, span: { start, end: start + quote.length } }
  }
  return { key: (own ?? last).key, span: undefined }
}

/** An absent start is 0; without an end there is no span. */
function spanIn(holder: CitedText, { startIndex = 0, endIndex }: JsonObject, known: Map<CitedText, Offsets>) {
  if (typeof startIndex !== 'number' || typeof endIndex !== 'number' || endIndex <= startIndex) return undefined
  const offsets = known.get(holder) ?? offsetsOf(holder.text)
  known.set(holder, offsets)
  return { start: offsets.unitAt(startIndex), end: offsets.unitAt(endIndex) }
}
