import type { JsonObject } from '../lib/json.ts'
import type { FormPart } from '../lib/multipart.ts'
import type { Endpoint, RequestBound, TokenUsage } from '../protocols/formats/format.ts'
import { getOutputLimit } from '../protocols/formats/output-limits.ts'
import { getBound } from '../protocols/kinds/request-bounds.ts'
import { getCatalogModel, getPrice, type ModelReference } from '../protocols/providers/catalog-model.ts'
import type { Catalog, CatalogModel, EntryParams, Price } from '../types.ts'
import { calculateUnitCost, getHighestImagePrice, getHighestInputPrice, getServicePrice, selectTier } from './cost.ts'
import { boundInputTokens } from './input-bound.ts'
import { findBodySurcharge } from './surcharge-fields.ts'

/** The most that an attempt can use, as known before the call. */
export interface WorstCase {
  /** An upper bound on the provider's count, including cached input. */
  inputTokens: number
  /** The total for all choices. */
  outputTokens: number
  /** How many choices share `outputTokens`. If the gateway limits the output (`AttemptControls.limitOutput`), the limit applies to each choice. */
  choices: number
  /** Whether the request sets the maximum itself. Otherwise, it is the model's maximum or `DEFAULT_OUTPUT`, and the gateway may set a lower one. */
  isOutputRequested: boolean
  /** The cost in US dollars; `fixed` covers everything except output. `undefined` if a required price is unknown. */
  usd: { fixed: number; perOutputToken: number } | undefined
}

/** The parts of a request that determine its worst case. */
interface BoundRequest {
  readonly call: { readonly endpoint: Endpoint; readonly body: JsonObject; readonly form?: readonly FormPart[] }
  readonly context: { readonly catalog: Catalog }
}

/** The assumed maximum output for an unknown model, in tokens. The largest models have this limit. */
export const DEFAULT_OUTPUT = 131_072

/** Calculates the most that an attempt at the target can use. `params` are the combo entry's parameters. */
export function getWorstCase(
  { call, context }: BoundRequest,
  target: ModelReference & { params?: Pick<EntryParams, 'maxTokens'> },
): WorstCase {
  const { endpoint, body, form = [] } = call
  const files = form.filter((part) => 'bytes' in part)
  const bound = getBound(endpoint)
  const outputLimit = getOutputLimit(endpoint)
  const model = getCatalogModel(context.catalog, target)
  const estimate = () => boundInputTokens(body, target)
  const inputTokens = bound.inputTokens?.(body, estimate, files) ?? estimate()
  const comboLimit = outputLimit && target.params?.maxTokens
  const limit = comboLimit ?? outputLimit?.get(body)
  const choices = bound.countResponses?.(body) ?? 1
  const outputTokens = bound.hasNoOutput
    ? 0
    : Math.ceil(limit ?? bound.outputTokens?.(body, files) ?? getMaxOutput(model)) * choices
  return {
    inputTokens,
    outputTokens,
    choices,
    isOutputRequested: comboLimit === undefined && limit !== undefined,
    usd: calculateMaxCost(
      applyHighestImagePrice(getPrice(context.catalog, target), endpoint.format === 'openai-chat' ? body : {}),
      {
        inputTokens,
        outputTokens,
        serviceTier: findPricedTier({ call, context }, target),
        units: bound.units?.(body, files),
        isBilledOnce: bound.isBilledOnce,
        hasMedia: () => MEDIA_PATTERN.test(JSON.stringify(body)),
      },
    ),
  }
}

/**
 * Sets `image` to the price of the most expensive image that the request's `quality` and `size` (OpenAI's fields) allow. Unless a name in `images`
 * matches exactly, the response may be an image with another name, which costs `image` or, if that isn't set, the highest price.
 */
function applyHighestImagePrice(price: Price | undefined, { quality, size }: JsonObject): Price | undefined {
  if (!price?.images) return price
  const { images, image = 0, ...others } = price
  const getRequested = (part: string) => (/^\d/.test(part) ? size : quality)
  const isRequested = (part: string) => part !== 'auto' && getRequested(part) === part
  // A tier may also match a size in pixels.
  const fits = (part: string) => {
    const requested = getRequested(part)
    return typeof requested !== 'string' || requested === 'auto' || requested === part || /^512$|K$/.test(part)
  }
  const isNamed = Object.keys(images).some((name) => name.split(':').every(isRequested))
  const isAny = price.image === undefined && !isNamed
  const highest = getHighestImagePrice(images, (name) => isAny || name.split(':').every(fits))
  return highest === undefined ? price : { ...others, image: Math.max(image, highest) }
}

const getMaxOutput = (model: CatalogModel | undefined): number =>
  model?.maxOutputTokens ?? Math.min(model?.contextWindow ?? DEFAULT_OUTPUT, DEFAULT_OUTPUT)

/** Returns the service tier that the request selects, if the target has a price for it. */
export function findPricedTier(
  { call, context }: Pick<BoundRequest, 'context'> & { call: Pick<BoundRequest['call'], 'body'> },
  target: ModelReference,
): string | undefined {
  const price = getPrice(context.catalog, target)
  const { tier } = (price?.serviceTiers && findBodySurcharge(call.body)) ?? {}
  return price && getServicePrice(price, tier) && tier
}

interface MaxUsage extends Pick<WorstCase, 'inputTokens' | 'outputTokens'> {
  serviceTier: string | undefined
  units: TokenUsage['units']
  isBilledOnce: RequestBound['isBilledOnce']
  /** Returns whether the input may contain images or audio. */
  hasMedia(): boolean
}

const MEDIA_PATTERN = /image|audio|media|file/i

function calculateMaxCost(
  base: Price | undefined,
  { inputTokens, outputTokens, serviceTier, units, isBilledOnce, hasMedia }: MaxUsage,
): WorstCase['usd'] {
  if (inputTokens === 0 && outputTokens === 0 && !units) return { fixed: 0, perOutputToken: 0 }
  if (!base) return undefined
  const price = selectTier(base, { inputTokens, ...(serviceTier !== undefined && { serviceTier }) })
  const { audioInput = 0, imageInput = 0, audioOutput = 0, imageOutput = 0 } = price
  const mediaPrice = Math.max(audioInput, imageInput)
  const basePrice = inputTokens > 0 ? getHighestInputPrice(price) : 0
  const inputPrice = basePrice !== undefined && mediaPrice > basePrice && hasMedia() ? mediaPrice : basePrice
  const output = price.output === undefined ? undefined : Math.max(price.output, audioOutput, imageOutput)
  const unitCost = calculateUnitCost(price, units)
  const knownCosts = [unitCost, inputPrice && (inputTokens * inputPrice) / 1_000_000].filter(
    (cost) => cost !== undefined,
  )
  if (knownCosts.length < (isBilledOnce ? 1 : 2)) return undefined
  const isByUnits = isBilledOnce && units !== undefined && unitCost !== undefined
  if (outputTokens > 0 && output === undefined && !isByUnits) return undefined
  return {
    fixed: knownCosts.reduce((sum, cost) => sum + cost, 0),
    perOutputToken: outputTokens > 0 ? (output ?? 0) / 1_000_000 : 0,
  }
}
