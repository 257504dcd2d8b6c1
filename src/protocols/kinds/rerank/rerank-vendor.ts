import { isObject, type JsonObject } from '../../../lib/json.ts'
import { readTokenCount } from '../../formats/canonical/canonical-values.ts'
import { readCost } from '../../formats/canonical/reported-cost.ts'
import { isBlankUsage } from '../../formats/canonical/reported-usage.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { VendorAdapter, VendorContext } from '../kind-adapters.ts'
import { getImage, getText, type RankedResult, type RerankRequest, type RerankResponse } from './rerank.ts'

type RerankAdapter = VendorAdapter<RerankRequest, RerankResponse>

/** A rerank vendor's properties. The defaults fit most vendors. */
export interface RerankVendor
  extends Pick<
    RerankAdapter,
    'name' | 'providers' | 'matches' | 'baseUrl' | 'adaptBaseUrl' | 'passThrough' | 'arrayField' | 'readHeaderUsage'
  > {
  /** The path of the endpoint. Default: `/rerank`. */
  path?: string
  /** The cloud service, if it isn't the one for chat. */
  service?: string
  /** Maximum number of documents in a request. */
  maxDocuments?: number
  /** Supported options (`RerankRequest.options`); others are dropped. With `all`, the vendor gets every option. */
  supports?: readonly string[] | 'all'
  /** Whether a document may be an image instead of a string (`alone`), or an image in addition to a string (`beside`). Default: neither. */
  images?: 'alone' | 'beside'
  /** Writes the body. Default: `writeCohereBody`. */
  writeBody?(input: VendorInput, context: VendorContext): JsonObject
  /** Returns the usage that the vendor charges for, if the response doesn't report it. */
  estimateUsage?(request: RerankRequest): TokenUsage
}

/** A request with its documents and options as the vendor expects them. */
export interface VendorInput extends RerankRequest {
  model: string
  /** Strings, or objects with an image. */
  vendorDocuments: ReadonlyArray<string | JsonObject>
  /** The options that the vendor supports. */
  options: JsonObject
}

/** Creates a vendor's adapter. */
export function createRerankAdapter(vendor: RerankVendor): RerankAdapter {
  const { path = '/rerank', service, writeBody = writeCohereBody, estimateUsage, ...rest } = vendor
  return {
    ...rest,
    writeRequest(request, context) {
      const { target } = context
      const input = { ...request, model: target.model, vendorDocuments: writeDocuments(vendor, request, context) }
      const options = pickOptions(vendor, request, context)
      return { path, ...(service !== undefined && { service }), body: writeBody({ ...input, options }, context) }
    },
    readResponse(json, request) {
      const results = readResults(json, request)
      if (typeof results === 'string') return results
      const { id, model } = json
      return {
        ...(typeof id === 'string' && { id }),
        ...(typeof model === 'string' && { model }),
        results,
        usage: readUsage(json) ?? estimateUsage?.(request),
      }
    },
  }
}

/** Writes a body for Cohere's API. Always includes the number of results, because some servers require it. */
export const writeCohereBody = ({ model, query, vendorDocuments, topN, options }: VendorInput): JsonObject => ({
  model,
  query,
  documents: vendorDocuments,
  top_n: topN,
  ...options,
})

function pickOptions(
  { supports = [] }: RerankVendor,
  { options }: RerankRequest,
  { warnings }: VendorContext,
): JsonObject {
  if (supports === 'all') return options
  for (const name of Object.keys(options)) if (!supports.includes(name)) warnings.recordDrop(name)
  return Object.fromEntries(Object.entries(options).filter(([name]) => supports.includes(name)))
}

function writeDocuments(
  { images, maxDocuments = Number.POSITIVE_INFINITY }: RerankVendor,
  { documents, rankFields }: RerankRequest,
  { warnings }: VendorContext,
): Array<string | JsonObject> {
  if (documents.length > maxDocuments)
    warnings.reject(
      'documents',
      `the target accepts at most ${maxDocuments} documents, but the request has ${documents.length}.`,
    )
  return documents.map((document, index) => {
    const documentImage = getImage(document)
    if (documentImage === undefined) return getText(document, rankFields)
    const text = isObject(document) && typeof document.text === 'string' ? document.text : undefined
    if (images === 'beside') return text === undefined ? { image: documentImage } : { text, image: documentImage }
    if (images === 'alone' && text === undefined) return { image: documentImage }
    if (text === undefined) return warnings.reject(`documents[${index}].image`, 'the target only ranks text.')
    warnings.recordDrop(`documents[${index}].image`)
    return getText(text)
  })
}

/** Reads the requested number of results, best first, from whichever field the vendor uses. If anything is missing, returns a description of it. */
function readResults(json: JsonObject, { documents, topN }: RerankRequest): RankedResult[] | string {
  const list = RESULT_FIELDS.map((name) => json[name]).find(Array.isArray)
  if (!list) return 'results'
  const results = list.map(readResult)
  if (results.length === 0) return 'any result'
  if (!results.every((result) => result !== undefined && result.index < documents.length))
    return 'a score and the index of a document for each result'
  if (new Set(results.map((result) => result?.index)).size < results.length) return 'each document once'
  return results
    .filter((result) => result !== undefined)
    .sort((a, b) => b.score - a.score) // `sort` is stable, so ties keep their order
    .slice(0, topN)
}

const RESULT_FIELDS = ['results', 'data', 'rankings', 'records']
const SCORE_FIELDS = ['relevance_score', 'relevanceScore', 'score', 'logit']

function readResult(result: unknown): RankedResult | undefined {
  if (!isObject(result)) return undefined
  const { index } = result
  const score = SCORE_FIELDS.map((name) => result[name]).find((value) => typeof value === 'number')
  const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0
  return isIndex && typeof score === 'number' ? { index, score } : undefined
}

/** Reads the number of tokens or searches. One search covers up to a hundred documents. */
function readUsage({ usage, meta }: JsonObject): TokenUsage | undefined {
  const usageFields = isObject(usage) ? usage : {}
  const billedUnits = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {}
  const searchCount = findCount(usageFields.search_units, billedUnits.search_units)
  const tokens = findCount(
    usageFields.total_tokens,
    usageFields.prompt_tokens,
    billedUnits.total_tokens,
    billedUnits.input_tokens,
  )
  const reportedUsage = {
    inputTokens: tokens ?? 0,
    outputTokens: 0,
    ...(searchCount && { units: { search: searchCount } }),
    ...readCost(usageFields),
  }
  return isBlankUsage(reportedUsage) ? undefined : reportedUsage
}

const findCount = (...values: readonly unknown[]): number | undefined =>
  values.map(readTokenCount).find((count) => count > 0)
