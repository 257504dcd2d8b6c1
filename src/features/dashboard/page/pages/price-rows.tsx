import { bindField, CountField, NumberField, Rows, TextField, toChoices, toNumbers } from '../ui/forms.tsx'
import type { ConnectionView } from './targets.tsx'

export const tokenLabels = {
  input: 'Input',
  output: 'Output',
  cacheRead: 'Cached input',
  cacheWrite: 'Cache writes',
} as const
type TokenTexts = Record<keyof typeof tokenLabels, string>

/** A model's prices as form state. */
export type PriceRow = TokenTexts & { model: string; tiers: TierRow[]; other: string }

/** Prices for requests with more than `above` input tokens, as form state. */
type TierRow = TokenTexts & {
  above: string
  /** Prices that have no form field, so the form doesn't change them. */
  other: object
}

const NO_TOKENS: TokenTexts = { input: '', output: '', cacheRead: '', cacheWrite: '' }
const NO_PRICES: PriceRow = { ...NO_TOKENS, model: '', tiers: [], other: '' }
const NO_TIER: TierRow = { ...NO_TOKENS, above: '', other: {} }

/** Renders the price fields for a connection's models. */
export const PriceRows = ({ of }: { of: { value: PriceRow[] } }) => (
  <Rows
    of={of}
    emptyRow={NO_PRICES}
    addLabel="Add model prices"
    noun="prices"
    below={(row) => {
      const path = `${getPath(row)}.tiers`
      const tiers = bindField(row, 'tiers')
      return (
        <fieldset>
          <legend>Prices for long inputs</legend>
          <Rows of={tiers} emptyRow={NO_TIER} addLabel="Add tier" noun="tier">
            {(tier) => {
              const rowPath = `${path}[${tiers.value.indexOf(tier.value)}]`
              return (
                <>
                  <CountField
                    label="Over (input tokens)"
                    path={`${rowPath}.above`}
                    required
                    of={bindField(tier, 'above')}
                  />
                  <TokenFields of={tier} path={rowPath} />
                </>
              )
            }}
          </Rows>
          <p class="hint">
            A request with more input tokens is charged these prices for all of its tokens. Empty fields use the regular
            prices.
          </p>
        </fieldset>
      )
    }}
  >
    {(row) => (
      <>
        <TextField label="Model ID" path={getPath(row)} required of={bindField(row, 'model')} />
        <TokenFields of={row} path={getPath(row)} />
        <TextField label={OTHER_LABEL} hint={'For example, {"image": 0.04}.'} of={bindField(row, 'other')} />
      </>
    )}
  </Rows>
)

const OTHER_LABEL = 'Other prices (JSON)'

const getPath = ({ value: { model } }: { value: PriceRow }) => `prices.${model.trim()}`

function TokenFields<T extends TokenTexts>({ of, path }: { of: { value: T }; path: string }) {
  return (
    <>
      {toChoices(tokenLabels).map(([name, label]) => (
        <NumberField
          key={name}
          label={label}
          path={`${path}.${name}`}
          of={bindField<TokenTexts, typeof name>(of, name)}
        />
      ))}
    </>
  )
}

type Prices = NonNullable<ConnectionView['prices']>

export const toPriceRows = (prices: Prices = {}): PriceRow[] =>
  Object.entries(prices).map(([model, { tiers = [], ...rest }]) => {
    const { other, ...texts } = toTexts(rest)
    return {
      ...texts,
      model,
      tiers: tiers.map(({ above, ...tier }) => ({ ...toTexts(tier), above: `${above}` })),
      other: Object.keys(other).length > 0 ? JSON.stringify(other) : '',
    }
  })

function toTexts({ input, output, cacheRead, cacheWrite, ...other }: Prices[string]) {
  const toText = (value: number | undefined) => `${value ?? ''}`
  return {
    input: toText(input),
    output: toText(output),
    cacheRead: toText(cacheRead),
    cacheWrite: toText(cacheWrite),
    other,
  }
}

/** Converts form state to API input. Returns `null` if there are no prices. Throws if a model's other prices aren't a JSON object. */
export function toPrices(rows: readonly PriceRow[]): Record<string, object> | null {
  const prices = rows.map(({ model, tiers, other, ...tokens }) => {
    const tierPrices = tiers.map(({ other: otherPrices, ...tier }) => ({ ...otherPrices, ...toNumbers(tier) }))
    return [
      model.trim(),
      { ...toNumbers(tokens), ...(tierPrices.length > 0 && { tiers: tierPrices }), ...parseJsonObject(other) },
    ] as const
  })
  return rows.length > 0 ? Object.fromEntries(prices) : null
}

function parseJsonObject(text: string): object {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {} // the error below also covers invalid JSON
  throw new Error(`"${OTHER_LABEL}" must be a JSON object.`)
}
