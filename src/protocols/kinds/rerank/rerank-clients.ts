import { isObject, type JsonObject } from '../../../lib/json.ts'
import { readFields } from '../../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { dropUnreadGatewayOptions, writeResponseFields } from '../ai-sdk-kinds.ts'
import type { ClientAdapter, ClientReadContext, ClientWriteContext } from '../kind-adapters.ts'
import { getText, type RankedDocument, type RerankRequest, type RerankResponse } from './rerank.ts'

/**
 * The client adapters for reranking. `/v1/rerank` accepts version 1 of Cohere's API, its variants (Jina, Together, self-hosted servers), and Voyage's
 * API, where the number of results is `top_k`. `/v2/rerank` accepts version 2 of Cohere's API.
 */
export const clients: Readonly<Record<'v1' | 'v2' | 'ai-sdk', ClientAdapter<RerankRequest, RerankResponse>>> = {
  v1: {
    read: (body, context) => readRequest(body, context, usesVoyageFormat(body, context)),
    write: (ranking, context) => (context.request.usesVoyageFormat ? writeVoyage : writeV1)(ranking, context),
  },
  v2: { read: readRequest, write: writeV2 },
  'ai-sdk': {
    read: readAiSdk,
    write: ({ results, usage }, context) => ({
      ranking: results.map(writeRank),
      ...writeResponseFields(context, usage),
    }),
  },
}

/**
 * Returns whether a client expects Voyage's response. Voyage's SDKs may omit the fields that no other client sends, so the user agent is also
 * checked.
 */
function usesVoyageFormat(body: JsonObject, { header }: ClientReadContext): boolean {
  if ((body.top_k ?? null) !== null) return true
  return (
    (body.top_n ?? null) === null &&
    (typeof body.truncation === 'boolean' || /voyage/i.test(header('user-agent') ?? ''))
  )
}

function readRequest(body: JsonObject, { warnings }: ClientReadContext, isVoyage = false): RerankRequest {
  const fields = readFields(body, '', warnings)
  const query = fields.string('query')
  if (!query) return warnings.reject('query', 'is required: the text to compare the documents with.')
  const documents = readDocuments(fields.list('documents'), warnings)
  const rankFields = fields.strings('rank_fields')
  const returnsDocuments = fields.boolean('return_documents')
  for (const name of NUMBER_FIELDS) fields.number(name)
  fields.boolean('truncation')
  const countField = isVoyage ? 'top_k' : 'top_n'
  const requestedCount = fields.number(countField) ?? documents.length
  if (!Number.isInteger(requestedCount) || requestedCount < 1)
    warnings.reject(countField, 'must be a whole number of 1 or more.')
  const { top_n: topNField = null } = body
  if (isVoyage && topNField !== null) warnings.recordDrop('top_n')
  const options = Object.entries(body).filter(
    ([name, value]) => value !== null && !NON_OPTION_FIELDS.has(name) && !(isVoyage && name === 'top_k'),
  )
  return {
    query,
    documents,
    topN: Math.min(requestedCount, documents.length),
    returnsDocuments,
    usesVoyageFormat: isVoyage,
    rankFields,
    options: Object.fromEntries(options),
  }
}

/** Fields that aren't options. */
const NON_OPTION_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'query',
  'documents',
  'top_n',
  'return_documents',
  'rank_fields',
])

/** Numeric options. */
const NUMBER_FIELDS = ['max_tokens_per_doc', 'max_chunks_per_doc', 'priority']

function readDocuments(list: unknown[] | undefined, warnings: Warnings): RankedDocument[] {
  if (!list?.length) return warnings.reject('documents', 'is required: at least one string or object.')
  const isDocument = (value: unknown): value is RankedDocument => typeof value === 'string' || isObject(value)
  const invalidIndex = list.findIndex((item) => !isDocument(item))
  if (invalidIndex !== -1) warnings.reject(`documents[${invalidIndex}]`, 'must be a string or an object.')
  return list.filter(isDocument)
}

/** Reads an AI SDK request, which wraps the list of documents in an object. */
function readAiSdk(body: JsonObject, { warnings }: ClientReadContext): RerankRequest {
  const fields = readFields(body, '', warnings)
  const query =
    fields.string('query') || warnings.reject('query', 'is required: the text to compare the documents with.')
  const documents = readDocuments(fields.fields('documents')?.list('values'), warnings)
  const requestedCount = fields.number('topN') ?? documents.length
  if (!Number.isInteger(requestedCount) || requestedCount < 1)
    warnings.reject('topN', 'must be a whole number of 1 or more.')
  dropUnreadGatewayOptions(body, warnings)
  return { query, documents, topN: Math.min(requestedCount, documents.length), usesVoyageFormat: false, options: {} }
}

const writeRank = ({ index, score }: RerankResponse['results'][number]): JsonObject => ({
  index,
  relevanceScore: score,
})

type Context = ClientWriteContext<RerankRequest>

function writeV1(ranking: RerankResponse, context: Context): JsonObject {
  const { inputTokens: tokens = 0, units } = ranking.usage ?? {}
  const searches = units?.search
  return {
    id: ranking.id ?? `rerank-${context.newId()}`,
    object: 'rerank',
    model: context.model,
    results: writeResults(ranking, context, writeDocument),
    meta: writeMeta('1', ranking.usage),
    usage: {
      prompt_tokens: tokens,
      completion_tokens: 0,
      total_tokens: tokens,
      ...(searches !== undefined && { search_units: searches }),
    },
  }
}

function writeV2(ranking: RerankResponse, context: Context): JsonObject {
  return {
    id: ranking.id ?? `rerank-${context.newId()}`,
    results: writeResults(ranking, context, writeDocument),
    meta: writeMeta('2', ranking.usage), // some clients require `meta`
  }
}

function writeVoyage(ranking: RerankResponse, context: Context): JsonObject {
  const { rankFields } = context.request
  return {
    object: 'list',
    data: writeResults(ranking, context, (document) => getText(document, rankFields)),
    model: context.model,
    usage: { total_tokens: ranking.usage?.inputTokens ?? 0 },
  }
}

/** Writes the results. `formatDocument` converts a document to the client's format. */
const writeResults = (
  { results }: RerankResponse,
  { request: { documents, returnsDocuments } }: Context,
  formatDocument: (document: RankedDocument) => unknown,
): JsonObject[] =>
  results.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(returnsDocuments && { document: formatDocument(documents[index] ?? '') }),
  }))

/** Writes a document as an object, and adds text if it has none. */
const writeDocument = (document: RankedDocument): JsonObject =>
  typeof document === 'string' ? { text: document } : { text: getText(document), ...document }

function writeMeta(version: string, usage: TokenUsage | undefined): JsonObject {
  const { inputTokens = 0, units } = usage ?? {}
  return {
    api_version: { version },
    billed_units: {
      ...(units?.search !== undefined && { search_units: units.search }),
      ...(inputTokens > 0 && { input_tokens: inputTokens }),
    },
  }
}
