import type { Endpoint, RequestBound, TokenUsage } from '../formats/format.ts'
import type { JsonObject } from '../lib/json.ts'
import type { FormPart } from '../lib/multipart.ts'
import { catalogModelOf, type ModelAt, priceOf } from '../providers/catalog-model.ts'
import type { Catalog, CatalogModel, EntryParams, Price } from '../types.ts'
import { costOfUnits, dearestInput, dearestOf } from './cost.ts'
import { inputBound } from './input-bound.ts'

/** The most that an attempt can use, as far as is known before its provider is called. */
export interface WorstCase {
  /** At least what the provider counts, cached input included. */
  inputTokens: number
  /** Of all answers together. */
  outputTokens: number
  /** How many answers share `outputTokens`: a limit that the gateway sets (`SteppedAttempt.limitOutput`) holds for each of them. */
  answers: number
  /** Has the request given the maximum itself? Otherwise it is the model's, or `DEFAULT_OUTPUT`, and the gateway may set a lower one. */
  isOutputGiven: boolean
  /** In US dollars: of all but the output, and of one token of output; `undefined` when a price that is needed is not known. */
  usd: { fixed: number; perOutputToken: number } | undefined
}

/** The parts of a request that its worst case depends on. */
interface BoundRequest {
  readonly call: { readonly endpoint: Endpoint; readonly body: JsonObject; readonly form?: readonly FormPart[] }
  readonly context: { readonly catalog: Catalog }
}

/** The assumed maximum output of a model of which nothing is known, in tokens: that of the largest models. */
export const DEFAULT_OUTPUT = 131_072

/** The most that an attempt of the request at the target can use. `params`: what entries of combos set for it. */
export function worstCaseOf(
  { call, context }: BoundRequest,
  target: ModelAt & { params?: Pick<EntryParams, 'maxTokens'> },
): WorstCase {
  const { endpoint, body, form = [] } = call
  const files = form.filter((part) => 'bytes' in part)
  const { bound = {}, outputLimit } = endpoint
  const model = catalogModelOf(context.catalog, target)
  const estimate = () => inputBound(body, target)
  const inputTokens = bound.inputTokens?.(body, estimate, files) ?? estimate()
  const own = outputLimit && target.params?.maxTokens
  const given = own ?? outputLimit?.of(body)
  const answers = bound.answers?.(body) ?? 1
  const outputTokens = bound.hasNoOutput
    ? 0
    : Math.ceil(given ?? bound.outputTokens?.(body, files) ?? mostOf(model)) * answers
  return {
    inputTokens,
    outputTokens,
    answers,
    isOutputGiven: own === undefined && given !== undefined,
    usd: usdOf(withDearestImage(priceOf(context.catalog, target), endpoint.format === 'openai-chat' ? body : {}), {
      inputTokens,
      outputTokens,
      units: bound.units?.(body, files),
      isEither: bound.isEither,
      hasMedia: () => HAS_MEDIA.test(JSON.stringify(body)),
    }),
  }
}

/**
 * The price with that of the dearest image which the request can be answered with, by its `quality` and `size` in OpenAI's form. Unless a name in
 * `images` is exactly what it asks for, the answer may be one that none of them names: that costs `image`, else as much as the dearest of all.
 */
function withDearestImage(price: Price | undefined, { quality, size }: JsonObject): Price | undefined {
  if (!price?.images) return price
  const { images, image = 0, ...others } = price
  const askedFor = (part: string) => (/^\d/.test(part) ? size : quality)
  const isAsked = (part: string) => part !== 'auto' && askedFor(part) === part
  /** A size may also be meant by its tier. */
  const fits = (part: string) => {
    const asked = askedFor(part)
    return typeof asked !== 'string' || asked === 'auto' || asked === part || /^512$|K$/.test(part)
  }
  const isNamed = Object.keys(images).some((name) => name.split(':').every(isAsked))
  const isAny = price.image === undefined && !isNamed
  const dearest = dearestOf(images, (name) => isAny || name.split(':').every(fits))
  return dearest === undefined ? price : { ...others, image: Math.max(image, dearest) }
}

/** The most tokens that the model can answer with. */
const mostOf = (model: CatalogModel | undefined): number =>
  model?.maxOutputTokens ?? Math.min(model?.contextWindow ?? DEFAULT_OUTPUT, DEFAULT_OUTPUT)

/** What a price is of. */
interface Charged extends Pick<WorstCase, 'inputTokens' | 'outputTokens'> {
  units: TokenUsage['units']
  isEither: RequestBound['isEither']
  /** May there be pictures or sound in the input? */
  hasMedia(): boolean
}

const HAS_MEDIA = /image|audio|media|file/i

const isKnown = (cost: number | undefined): cost is number => cost !== undefined

function usdOf(
  price: Price | undefined,
  { inputTokens, outputTokens, units, isEither, hasMedia }: Charged,
): WorstCase['usd'] {
  if (inputTokens === 0 && outputTokens === 0 && !units) return { fixed: 0, perOutputToken: 0 }
  if (!price) return undefined
  const { audioInput = 0, imageInput = 0, audioOutput = 0, imageOutput = 0 } = price
  const ofMedia = Math.max(audioInput, imageInput)
  const plain = inputTokens > 0 ? dearestInput(price, { keepsForAnHour: true }) : 0
  const dearest = plain !== undefined && ofMedia > plain && hasMedia() ? ofMedia : plain
  const output = price.output === undefined ? undefined : Math.max(price.output, audioOutput, imageOutput)
  const known = [costOfUnits(price, units), dearest && (inputTokens * dearest) / 1_000_000].filter(isKnown)
  if (known.length < (isEither ? 1 : 2)) return undefined
  const isByUnits = isEither && units !== undefined && costOfUnits(price, units) !== undefined
  if (outputTokens > 0 && output === undefined && !isByUnits) return undefined
  return {
    fixed: known.reduce((sum, cost) => sum + cost, 0),
    perOutputToken: outputTokens > 0 ? (output ?? 0) / 1_000_000 : 0,
  }
}
