import { fieldsOf } from '../../formats/canonical/fields.ts'
import type { Warnings } from '../../formats/canonical/warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { factsOf } from '../ai-sdk.ts'
import type { ClientForm, ReadTerms, WriteTerms } from '../forms.ts'
import { type RankedDocument, type Ranking, type RerankRequest, textOf } from './rerank.ts'

/**
 * What clients of rerank models send and read. `/v1/rerank` has the form of Cohere's first version, which those of Jina, Together and the
 * servers of users are variants of, and the form of Voyage, which calls the number of results `top_k`. `/v2/rerank` has that of Cohere's second.
 */
export const clients: Readonly<Record<'v1' | 'v2' | 'ai-sdk', ClientForm<RerankRequest, Ranking>>> = {
  v1: {
    read: (body, context) => read(body, context, isVoyages(body, context)),
    write: (ranking, context) => (context.asked.isVoyages ? voyageAnswer : firstAnswer)(ranking, context),
  },
  v2: { read, write: secondAnswer },
  'ai-sdk': {
    read: readAiSdk,
    write: ({ results, usage }, terms) => ({ ranking: results.map(rankOf), ...factsOf(terms, usage) }),
  },
}

/** Does a client expect Voyage's answer? Its own clients may leave out what only they send, and tell their name. */
function isVoyages(body: JsonObject, { header }: ReadTerms): boolean {
  if ((body.top_k ?? null) !== null) return true
  return (
    (body.top_n ?? null) === null &&
    (typeof body.truncation === 'boolean' || /voyage/i.test(header('user-agent') ?? ''))
  )
}

function read(body: JsonObject, { warnings }: ReadTerms, isVoyages = false): RerankRequest {
  const fields = fieldsOf(body, '', warnings)
  const query = fields.text('query')
  if (!query) return warnings.refuse('query', 'is required: the text that the documents are compared with.')
  const documents = documentsIn(fields.list('documents'), warnings)
  const rankFields = fields.texts('rank_fields')
  const returnsDocuments = fields.flag('return_documents')
  for (const name of NUMBERS) fields.number(name)
  fields.flag('truncation')
  const top = isVoyages ? 'top_k' : 'top_n'
  const wanted = fields.number(top) ?? documents.length
  if (!Number.isInteger(wanted) || wanted < 1) warnings.refuse(top, 'must be a whole number from 1 on.')
  const { top_n: other = null } = body
  if (isVoyages && other !== null) warnings.noteDropped('top_n')
  const options = Object.entries(body).filter(
    ([name, value]) => value !== null && !READ.has(name) && !(isVoyages && name === 'top_k'),
  )
  return {
    query,
    documents,
    topN: Math.min(wanted, documents.length),
    returnsDocuments,
    isVoyages,
    rankFields,
    options: Object.fromEntries(options),
  }
}

/** The members that are no options. */
const READ: ReadonlySet<string> = new Set(['model', 'query', 'documents', 'top_n', 'return_documents', 'rank_fields'])

/** The options that are numbers. */
const NUMBERS = ['max_tokens_per_doc', 'max_chunks_per_doc', 'priority']

function documentsIn(list: unknown[] | undefined, warnings: Warnings): RankedDocument[] {
  if (!list?.length) return warnings.refuse('documents', 'is required: at least one text or object.')
  const isDocument = (one: unknown): one is RankedDocument => typeof one === 'string' || isObject(one)
  const wrong = list.findIndex((one) => !isDocument(one))
  if (wrong !== -1) warnings.refuse(`documents[${wrong}]`, 'must be a string or an object.')
  return list.filter(isDocument)
}

/** Reads the request of the AI SDK, whose documents are a list of texts or of objects, tagged as such. */
function readAiSdk(body: JsonObject, { warnings }: ReadTerms): RerankRequest {
  const fields = fieldsOf(body, '', warnings)
  const query =
    fields.text('query') || warnings.refuse('query', 'is required: the text that the documents are compared with.')
  const documents = documentsIn(fields.fields('documents')?.list('values'), warnings)
  const wanted = fields.number('topN') ?? documents.length
  if (!Number.isInteger(wanted) || wanted < 1) warnings.refuse('topN', 'must be a whole number from 1 on.')
  return { query, documents, topN: Math.min(wanted, documents.length), isVoyages: false, options: {} }
}

const rankOf = ({ index, score }: Ranking['results'][number]): JsonObject => ({ index, relevanceScore: score })

type Context = WriteTerms<RerankRequest>

function firstAnswer(ranking: Ranking, context: Context): JsonObject {
  const { inputTokens: tokens = 0, units } = ranking.usage ?? {}
  const searches = units?.search
  return {
    id: ranking.id ?? `rerank-${context.newId()}`,
    object: 'rerank',
    model: context.model,
    results: resultsOf(ranking, context, shown),
    meta: metaOf('1', ranking.usage),
    usage: {
      prompt_tokens: tokens,
      completion_tokens: 0,
      total_tokens: tokens,
      ...(searches !== undefined && { search_units: searches }),
    },
  }
}

function secondAnswer(ranking: Ranking, context: Context): JsonObject {
  return {
    id: ranking.id ?? `rerank-${context.newId()}`,
    results: resultsOf(ranking, context, shown),
    meta: metaOf('2', ranking.usage), // some clients read no answer without it
  }
}

function voyageAnswer(ranking: Ranking, context: Context): JsonObject {
  const { rankFields } = context.asked
  return {
    object: 'list',
    data: resultsOf(ranking, context, (document) => textOf(document, rankFields)),
    model: context.model,
    usage: { total_tokens: ranking.usage?.inputTokens ?? 0 },
  }
}

/** The results as all forms have them, with the documents as this one has them. */
const resultsOf = (
  { results }: Ranking,
  { asked: { documents, returnsDocuments } }: Context,
  shownAs: (document: RankedDocument) => unknown,
): JsonObject[] =>
  results.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(returnsDocuments && { document: shownAs(documents[index] ?? '') }),
  }))

/** A document as the client sent it, with a text in any case. */
const shown = (document: RankedDocument): JsonObject =>
  typeof document === 'string' ? { text: document } : { text: textOf(document), ...document }

function metaOf(version: string, usage: TokenUsage | undefined): JsonObject {
  const { inputTokens = 0, units } = usage ?? {}
  return {
    api_version: { version },
    billed_units: {
      ...(units?.search !== undefined && { search_units: units.search }),
      ...(inputTokens > 0 && { input_tokens: inputTokens }),
    },
  }
}
