import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { Citation } from '../canonical/canonical-parts.ts'
import { omitUndefined, readString } from '../canonical/canonical-values.ts'
import type { WireChunk, WireGrounding, WireSource, WireSupport } from './gemini-wire.ts'

/** A text part in a response that sources may support. */
export interface CitedText {
  key: number
  text: string
  /** The index of the candidate part in which the text starts. */
  partIndex: number
}

type TextCitation = { key: number; citation: Citation }

/** Parses a candidate's sources as citations in the text parts that they support. */
export function parseGrounding(candidate: JsonObject, texts: readonly CitedText[]): TextCitation[] {
  const lastText = texts.at(-1)
  if (!lastText) return []
  const offsets = new Map<CitedText, Offsets>()
  const { groundingMetadata: grounding, citationMetadata } = candidate
  const textCitations = isObject(grounding) ? parseSupports(grounding, { texts, lastText, offsets }) : []
  for (const entry of getQuotedSources(citationMetadata)) {
    if (!isObject(entry) || typeof entry.uri !== 'string') continue
    textCitations.push({
      key: lastText.key,
      citation: { ...parseSource(entry), ...findSpan(lastText, entry, offsets) },
    })
  }
  return textCitations
}

/** Returns whether a candidate names any sources. Often it only contains search queries. */
export function hasSources({ groundingMetadata: grounding, citationMetadata }: JsonObject): boolean {
  const lists = [isObject(grounding) && grounding.groundingChunks, getQuotedSources(citationMetadata)]
  return lists.some((list) => Array.isArray(list) && list.length > 0)
}

/** Returns the quotation sources: the same list under two names, one in the Gemini API and one in Vertex. */
function getQuotedSources(citationMetadata: unknown): unknown[] {
  const list = isObject(citationMetadata) ? (citationMetadata.citationSources ?? citationMetadata.citations) : undefined
  return Array.isArray(list) ? list : []
}

interface TextContext {
  texts: readonly CitedText[]
  lastText: CitedText
  offsets: Map<CitedText, Offsets>
}

function parseSupports(grounding: JsonObject, { texts, lastText, offsets }: TextContext): TextCitation[] {
  const chunks: unknown[] = Array.isArray(grounding.groundingChunks) ? grounding.groundingChunks : []
  const sources = chunks.map((chunk) => (isObject(chunk) ? parseSource(mergeSources(chunk)) : {}))
  const supports: unknown[] = Array.isArray(grounding.groundingSupports) ? grounding.groundingSupports : []
  const createCitations = (source: Citation | undefined, key: number, span: TextSpan | undefined): TextCitation[] =>
    source && Object.keys(source).length > 0 ? [{ key, citation: { ...source, ...span } }] : []
  if (supports.length === 0) return sources.flatMap((source) => createCitations(source, lastText.key, undefined))
  return supports.flatMap((support) => {
    if (!isObject(support)) return []
    const indices: unknown[] = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : []
    const segment = isObject(support.segment) ? support.segment : {}
    const { key, span } = locateSegment(segment, { texts, lastText, offsets })
    return indices.flatMap((index) =>
      createCitations(typeof index === 'number' ? sources[index] : undefined, key, span),
    )
  })
}

/** Merges the fields of a web page, a retrieved document, a map location, or an image. */
const mergeSources = ({ web, retrievedContext, maps, image }: JsonObject): JsonObject =>
  Object.assign({}, ...[image, maps, retrievedContext, web].filter(isObject))

const parseSource = ({ uri, title, text }: JsonObject): Citation =>
  omitUndefined<Citation>({ url: readString(uri), title: readString(title), quote: readString(text) })

interface TextSpan {
  start: number
  end: number
}

/** Finds a segment's position, preferably by its quote, because its part index may be missing and a stream's parts are joined. */
function locateSegment(
  segment: JsonObject,
  { texts, lastText, offsets }: TextContext,
): { key: number; span: TextSpan | undefined } {
  const { text: quote, partIndex = 0 } = segment
  const citedText = texts.find((text) => text.partIndex === partIndex)
  const candidates = citedText ? [citedText, ...texts.filter((text) => text !== citedText)] : texts
  if (typeof quote !== 'string' || quote === '') {
    const fallbackText = citedText ?? lastText
    return { key: fallbackText.key, span: findSpan(fallbackText, segment, offsets) }
  }
  for (const candidate of candidates) {
    const span = findSpan(candidate, segment, offsets)
    if (span && candidate.text.slice(span.start, span.end) === quote) return { key: candidate.key, span }
  }
  for (const candidate of candidates) {
    const start = candidate.text.indexOf(quote)
    if (start !== -1) return { key: candidate.key, span: { start, end: start + quote.length } }
  }
  return { key: (citedText ?? lastText).key, span: undefined }
}

/** Finds a source's span in a text part. The start defaults to 0. Returns `undefined` if the end is missing. */
function findSpan(
  citedText: CitedText,
  { startIndex = 0, endIndex }: JsonObject,
  offsetsByText: Map<CitedText, Offsets>,
) {
  if (typeof startIndex !== 'number' || typeof endIndex !== 'number' || endIndex <= startIndex) return undefined
  const offsets = offsetsByText.get(citedText) ?? createOffsets(citedText.text)
  offsetsByText.set(citedText, offsets)
  return { start: offsets.toUnit(startIndex), end: offsets.toUnit(endIndex) }
}

/** A text part in a response, and its position among the parts. */
export interface CitedTextPart {
  text: string
  citations: readonly Citation[]
  partIndex: number
}

/** Writes a response's sources for a client. Returns `undefined` if there are none. */
export function writeGrounding(texts: readonly CitedTextPart[], queries: readonly string[]): WireGrounding | undefined {
  const chunks = new Map<string, WireChunk>()
  const supports: WireSupport[] = []
  for (const { text, citations, partIndex } of texts) {
    if (citations.length === 0) continue
    const offsets = createOffsets(text)
    for (const citation of citations) {
      const chunk = writeSource(citation)
      const id = JSON.stringify(chunk)
      chunks.set(id, chunk)
      const index = [...chunks.keys()].indexOf(id)
      supports.push({ ...writeSegment(citation, { text, offsets, partIndex }), groundingChunkIndices: [index] })
    }
  }
  if (chunks.size === 0 && queries.length === 0) return undefined
  return omitUndefined<WireGrounding>({
    groundingChunks: chunks.size > 0 ? [...chunks.values()] : undefined,
    groundingSupports: supports.length > 0 ? supports : undefined,
    webSearchQueries: queries.length > 0 ? [...queries] : undefined,
  })
}

/** Writes a source. A source with a URL becomes a web page, where clients look for it. Only retrieved text can have a quote. */
function writeSource({ url, title, quote }: Citation): WireChunk {
  const retrievedSource = omitUndefined<WireSource>({ uri: url, title, text: quote })
  if (url === undefined) return { retrievedContext: retrievedSource }
  const web = omitUndefined<WireSource>({ uri: url, title })
  return quote ? { web, retrievedContext: retrievedSource } : { web }
}

function writeSegment(
  { start, end }: Citation,
  { text, offsets, partIndex }: { text: string; offsets: Offsets; partIndex: number },
): Pick<WireSupport, 'segment'> {
  const partPosition = partIndex > 0 ? { partIndex } : {}
  if (start === undefined || end === undefined || text === '') return partIndex > 0 ? { segment: partPosition } : {}
  return {
    segment: {
      ...partPosition,
      startIndex: offsets.toByte(start),
      endIndex: offsets.toByte(end),
      text: text.slice(start, end),
    },
  }
}

/** Converts offsets in a text part. The canonical format counts UTF-16 units, and Google counts UTF-8 bytes. */
interface Offsets {
  toByte(unit: number): number
  /** Returns the unit at a byte offset. Within a character, returns the beginning of the character. */
  toUnit(bytes: number): number
}

/** Computes a text part's offsets once for all of its citations. */
function createOffsets(text: string): Offsets {
  const byteOffsets = new Uint32Array(text.length + 1) // the number of bytes before each UTF-16 unit
  let bytes = 0
  for (let unit = 0; unit < text.length; unit++) {
    byteOffsets[unit] = bytes
    const code = text.charCodeAt(unit)
    if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(unit + 1))) {
      byteOffsets[++unit] = bytes
      bytes += 4
    } else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
  }
  byteOffsets[text.length] = bytes
  return {
    toByte: (unit) => byteOffsets[Math.max(0, Math.min(unit, text.length))] ?? bytes,
    toUnit(offset) {
      let low = 0
      let high = text.length
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((byteOffsets[middle] ?? bytes) <= offset) low = middle
        else high = middle - 1
      }
      return isLowSurrogate(text.charCodeAt(low)) ? low - 1 : low
    },
  }
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code < 0xdc00
const isLowSurrogate = (code: number) => code >= 0xdc00 && code < 0xe000
