import { reportedCost } from '../../formats/canonical/reported-cost.ts'
import { tokenCount } from '../../formats/canonical/values.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { VendorContext, VendorForm } from '../forms.ts'
import { imageOf, type RankedResult, type Ranking, type RerankRequest, textOf } from './rerank.ts'

type Form = VendorForm<RerankRequest, Ranking>

/** The properties of a vendor of rerank models. The default of each member is what most vendors do. */
export interface RerankVendor
  extends Pick<Form, 'name' | 'providers' | 'isOf' | 'baseUrl' | 'base' | 'passes' | 'arraysAs' | 'usageIn'> {
  /** Default `/rerank`. */
  path?: string
  /** Where a cloud serves it apart from its chat. */
  service?: string
  /** The most documents that it takes. */
  mostDocuments?: number
  /** Which options it takes by the same names (`RerankRequest.options`); `all`: whatever clients send. All others are dropped. */
  takes?: readonly string[] | 'all'
  /** Does it take images as documents, in place of a text or beside one? Default: neither. */
  images?: 'alone' | 'beside'
  /** The body of a request; default: as `plainBody` writes it. */
  body?(plain: PlainRequest, context: VendorContext): JsonObject
  /** The usage that the vendor charges for an answer that does not report it. */
  unsaid?(asked: RerankRequest): TokenUsage
}

/** A request as most vendors take it. */
export interface PlainRequest extends RerankRequest {
  model: string
  /** The documents as the vendor takes them: texts, or objects with an image. */
  plain: ReadonlyArray<string | JsonObject>
  /** The options that the vendor takes. */
  options: JsonObject
}

/** The form of a vendor. */
export function rerankVendor(vendor: RerankVendor): Form {
  const { path = '/rerank', service, body = plainBody, unsaid, ...rest } = vendor
  return {
    ...rest,
    request(asked, context) {
      const { target } = context
      const plain = { ...asked, model: target.model, plain: documentsFor(vendor, asked, context) }
      const options = optionsFor(vendor, asked, context)
      return { path, ...(service !== undefined && { service }), body: body({ ...plain, options }, context) }
    },
    answer(json, asked) {
      const results = resultsIn(json, asked)
      if (typeof results === 'string') return results
      const { id, model } = json
      return {
        ...(typeof id === 'string' && { id }),
        ...(typeof model === 'string' && { model }),
        results,
        usage: usageIn(json) ?? unsaid?.(asked),
      }
    },
  }
}

/** Cohere's form, with the number of results in any case, since some servers require it. */
export const plainBody = ({ model, query, plain, topN, options }: PlainRequest): JsonObject => ({
  model,
  query,
  documents: plain,
  top_n: topN,
  ...options,
})

function optionsFor({ takes = [] }: RerankVendor, { options }: RerankRequest, { warnings }: VendorContext): JsonObject {
  if (takes === 'all') return options
  for (const name of Object.keys(options)) if (!takes.includes(name)) warnings.noteDropped(name)
  return Object.fromEntries(Object.entries(options).filter(([name]) => takes.includes(name)))
}

/** The documents as the vendor takes them. */
function documentsFor(
  { images, mostDocuments = Number.POSITIVE_INFINITY }: RerankVendor,
  { documents, rankFields }: RerankRequest,
  { warnings }: VendorContext,
): Array<string | JsonObject> {
  if (documents.length > mostDocuments)
    warnings.refuse(
      'documents',
      `the target takes at most ${mostDocuments} documents, and these are ${documents.length}.`,
    )
  return documents.map((document, at) => {
    const image = imageOf(document)
    if (image === undefined) return textOf(document, rankFields)
    const text = isObject(document) && typeof document.text === 'string' ? document.text : undefined
    if (images === 'beside') return text === undefined ? { image } : { text, image }
    if (images === 'alone' && text === undefined) return { image }
    if (text === undefined) return warnings.refuse(`documents[${at}].image`, 'the target ranks texts only.')
    warnings.noteDropped(`documents[${at}].image`)
    return textOf(text)
  })
}

/**
 * The results of an answer, the best first, as many as are wanted, wherever vendors put them: in `results`, `data`, `rankings` or `records`.
 * What it lacks, if it is none.
 */
function resultsIn(json: JsonObject, { documents, topN }: RerankRequest): RankedResult[] | string {
  const list = LISTS.map((name) => json[name]).find(Array.isArray)
  if (!list) return 'results'
  const results = list.map(resultOf)
  if (results.length === 0) return 'any result'
  if (!results.every((result) => result !== undefined && result.index < documents.length))
    return 'a score and the index of a document for each result'
  if (new Set(results.map((result) => result?.index)).size < results.length) return 'each document once'
  return results
    .filter((result) => result !== undefined)
    .sort((one, other) => other.score - one.score) // which keeps the order of equal ones
    .slice(0, topN)
}

const LISTS = ['results', 'data', 'rankings', 'records']
const SCORES = ['relevance_score', 'relevanceScore', 'score', 'logit']

function resultOf(result: unknown): RankedResult | undefined {
  if (!isObject(result)) return undefined
  const { index } = result
  const score = SCORES.map((name) => result[name]).find((value) => typeof value === 'number')
  const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0
  return isIndex && typeof score === 'number' ? { index, score } : undefined
}

/** What an answer says that it costs: tokens, or searches, of which one has up to a hundred documents. */
function usageIn({ usage, meta }: JsonObject): TokenUsage | undefined {
  const used = isObject(usage) ? usage : {}
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {}
  const search = countIn(used.search_units, billed.search_units)
  const tokens = countIn(used.total_tokens, used.prompt_tokens, billed.total_tokens, billed.input_tokens)
  if (search === undefined && tokens === undefined) return undefined
  return {
    inputTokens: tokens ?? 0,
    outputTokens: 0,
    ...(search !== undefined && { units: { search } }),
    ...reportedCost(used),
  }
}

/** The first of the numbers that is given. */
function countIn(...values: readonly unknown[]): number | undefined {
  const given = values.find((value) => typeof value === 'number')
  return given === undefined ? undefined : tokenCount(given)
}
