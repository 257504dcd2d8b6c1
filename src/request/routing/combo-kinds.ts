import { gatewayError } from '../../errors.ts'
import type { Group } from './group.ts'
import { needsOtherEndpoint, type RequestedEndpoint, suggestEndpoint } from './model-kinds.ts'
import { describeMixedVectors, findMixedModels } from './one-model.ts'
import type { RouteTable } from './route-table.ts'

/** Throws `INVALID_REQUEST` for a combo of a different kind than the endpoint's, or for a combo that mixes embedding models. */
export function checkComboKind(
  combo: Group,
  endpoint: RequestedEndpoint,
  table: Pick<RouteTable, 'combos' | 'aliases'>,
): void {
  requireComboKind(combo, endpoint)
  if (combo.kind === 'embedding') requireOneModel(combo, table)
}

/** Throws an `INVALID_REQUEST` that names the right endpoint if a combo is of a kind that the endpoint doesn't support. */
export function requireComboKind({ name, kind }: Pick<Group, 'name' | 'kind'>, endpoint: RequestedEndpoint): void {
  if (kind === undefined || !needsOtherEndpoint(endpoint, kind)) return
  throw gatewayError('INVALID_REQUEST', {
    message: `POST ${endpoint.path} does not serve the combo "${name}" of kind "${kind}"${suggestEndpoint(kind)}`,
    data: { param: 'model' },
  })
}

/** Throws `INVALID_REQUEST` for an embedding combo with different models. */
export function requireOneModel(combo: Group, { combos, aliases }: Pick<RouteTable, 'combos' | 'aliases'>): void {
  if (combo.sameVectors) return
  if (!problemsByCombo.has(combo)) {
    const mixedModels = findMixedModels(getEntryNames(combo), {
      findCombo(name) {
        const nestedCombo = combos.get(name)
        return nestedCombo && { models: getEntryNames(nestedCombo), sameVectors: nestedCombo.sameVectors }
      },
      findAliasTarget: (name) => aliases.get(name),
    })
    problemsByCombo.set(
      combo,
      mixedModels && `The combo "${combo.name}" mixes embedding models: ${describeMixedVectors(mixedModels)}.`,
    )
  }
  const message = problemsByCombo.get(combo)
  if (message !== undefined) throw gatewayError('INVALID_REQUEST', { message, data: { param: 'model' } })
}

const getEntryNames = ({ entries }: Group) => entries.map(({ name }) => name)

/** Caches combo problems by group. A change to a combo or an alias creates new groups. */
const problemsByCombo = new WeakMap<Group, string | undefined>()
