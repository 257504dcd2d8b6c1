import type { ComboRecord } from '../store/combos.ts'
import type { ProviderRecord } from '../store/store.ts'
import { storedRules } from '../store/stored-rules.ts'
import type { Group, Route } from './group.ts'

/** How a provider's connections are ordered. */
export type Spread = Pick<Group, 'label' | 'edition' | 'strategy' | 'stickyLimit'>

/** The key of a combo's state. */
export const comboLabel = (name: string): string => `combo/${name}`

/** The key of the state of a provider's connections. */
const providerLabel = (provider: string): string => `provider/${provider}`

/** A combo as a group of its models. */
export const comboGroup = (combo: ComboRecord): Group => ({
  name: combo.name,
  label: comboLabel(combo.name),
  edition: combo.revision,
  strategy: combo.strategy,
  stickyLimit: combo.stickyLimit ?? 1,
  hedge: combo.hedge ?? false,
  connectionStrategy: combo.connectionStrategy,
  rules: storedRules(combo),
  entries: combo.models.map((entry, index) =>
    typeof entry === 'string'
      ? { index, name: entry, weight: 1 }
      : { index, name: entry.model, weight: entry.weight ?? 1, when: entry.when },
  ),
})

/** The connections of a provider that serve one of its models, as a group. */
export const connectionsGroup = (routes: readonly Route[], spread: Spread): Group => ({
  ...spread,
  name: routes[0]?.target.provider ?? '',
  hedge: false,
  entries: routes.map(({ target }, index) => ({ index, name: target.connection.id, weight: 1, target })),
})

/** The strategy among a provider's connections: that of the combo that names it, otherwise the provider's; `undefined`: by priority. */
export function spreadOf(
  provider: string,
  { within, record }: { within: Group | undefined; record: ProviderRecord | undefined },
): Spread | undefined {
  const own = within?.connectionStrategy
  const spread =
    within && own
      ? {
          label: `${within.label}/${provider}`,
          edition: within.edition,
          strategy: own,
          stickyLimit: within.stickyLimit,
        }
      : record && { label: providerLabel(provider), strategy: record.strategy, stickyLimit: record.stickyLimit ?? 1 }
  return spread?.strategy === 'fallback' ? undefined : spread
}
