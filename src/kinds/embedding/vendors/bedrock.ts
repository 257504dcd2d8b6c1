import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { ProviderTarget } from '../../../providers/target.ts'
import type { VendorContext, VendorForm } from '../../forms.ts'
import {
  type Embed,
  type Embedded,
  noteLostTitles,
  requireFloats,
  requireTruncation,
  taskWord,
  textsOf,
  usageOf,
  vectorsIn,
} from '../embedding.ts'
import { cohereAnswer, cohereBody } from './cohere.ts'

/** A family of models at AWS Bedrock, of which each has a form of its own. */
const onBedrock = (
  form: Pick<VendorForm<Embed, Embedded>, 'name' | 'most' | 'answer'> & {
    models: RegExp
    body(asked: Embed, context: VendorContext): JsonObject
  },
): VendorForm<Embed, Embedded> => ({
  name: form.name,
  isOf: ({ cloud, model }: ProviderTarget) => cloud === 'bedrock' && form.models.test(model),
  ...(form.most && { most: form.most }),
  request: (asked, context) => ({
    path: `/model/${pathSegment(context.target.model)}/invoke`,
    body: form.body(asked, context),
  }),
  answer: form.answer,
  usageIn(header) {
    const tokens = Number(header('x-amzn-bedrock-input-token-count') ?? Number.NaN)
    return Number.isInteger(tokens) ? usageOf(tokens).usage : undefined
  },
})

/** Cohere's models, whose names may begin with those of regions. */
export const bedrockCohere = onBedrock({
  name: 'bedrock-cohere',
  models: /(?:^|\.)cohere\./,
  most: () => 96,
  body: cohereBody,
  answer: cohereAnswer,
})

/** Amazon's Nova, which takes one text at a time. */
export const bedrockNova = onBedrock({
  name: 'bedrock-nova',
  models: /(?:^|\.)amazon\.nova/,
  most: () => 1,
  body(asked, { warnings }) {
    const [value = ''] = plainTexts(asked, warnings)
    const { truncation = 'none', dimensions } = asked
    return {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: taskWord(asked, NOVA_TASKS, warnings) ?? NOVA_TASKS.document,
        ...(dimensions !== undefined && { embeddingDimension: dimensions }),
        text: { truncationMode: truncation.toUpperCase(), value },
      },
    }
  },
  answer({ embeddings, inputTokenCount }, asked) {
    return withTokens(vectorsIn(embeddings, asked, embeddingIn), inputTokenCount)
  },
})

const NOVA_TASKS = {
  query: 'TEXT_RETRIEVAL',
  document: 'GENERIC_INDEX',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

/** Amazon's Titan, which takes one text at a time, and refuses one that is too long. */
export const bedrockTitan = onBedrock({
  name: 'bedrock-titan',
  models: /./,
  most: () => 1,
  body(asked, { warnings }) {
    const [inputText] = plainTexts(asked, warnings)
    requireTruncation(asked, { own: 'none' }, warnings)
    taskWord(asked, {}, warnings)
    const { dimensions } = asked
    return { inputText, ...(dimensions !== undefined && { dimensions }) }
  },
  answer({ embedding, inputTextTokenCount }, asked) {
    return withTokens(
      vectorsIn([embedding], asked, (item) => item),
      inputTextTokenCount,
    )
  },
})

/** The texts of a request that may have nothing else. */
function plainTexts(asked: Embed, warnings: VendorContext['warnings']): string[] {
  requireFloats(asked, warnings)
  noteLostTitles(asked, warnings)
  if (asked.user !== undefined) warnings.noteDropped('user')
  return textsOf(asked, warnings)
}

const embeddingIn = (item: unknown): unknown => (isObject(item) ? item.embedding : undefined)

const withTokens = (vectors: Embedded['vectors'] | string, tokens: unknown): Embedded | string =>
  typeof vectors === 'string' ? vectors : { vectors, ...usageOf(tokens) }
