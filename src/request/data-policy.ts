import { type GatewayError, gatewayError } from '../errors.ts'
import type { DataTags } from '../types.ts'
import type { Route } from './routing/group.ts'
import type { TargetRule } from './steps.ts'

/** Required tags, and where they come from, such as `the header "x-signalbox-require"`. */
export interface DataPolicy {
  readonly tags: Readonly<DataTags>
  readonly source: string
}

interface WithTargetRules {
  readonly targetRules: TargetRule[]
}

/** The data policies of each request that has any. */
const policiesByRequest = new WeakMap<WithTargetRules, DataPolicy[]>()

/** Makes a request skip targets whose connections lack any of the policies' tags. */
export function addPolicies(addedPolicies: readonly DataPolicy[], log: WithTargetRules): void {
  const policies = policiesByRequest.get(log) ?? []
  if (policies.length === 0 && addedPolicies.length > 0) {
    policiesByRequest.set(log, policies)
    log.targetRules.push(({ call }, target) => findPolicyError(policies, target, call.model))
  }
  policies.push(...addedPolicies)
}

/** Returns the error for a route whose connection lacks tags from the `where` of an entry on the path. */
export function findEntryPolicyError({ target, via }: Route, model: string): GatewayError | undefined {
  const policies: DataPolicy[] = []
  for (let choice = via; choice; choice = choice.parent) {
    const { entry, group } = choice
    if (entry.where) policies.push({ tags: entry.where, source: `"where" of "${entry.name}" in "${group.name}"` })
  }
  return findPolicyError(policies, target, model)
}

function findPolicyError(
  policies: readonly DataPolicy[],
  { connection }: Pick<Route['target'], 'connection'>,
  model: string,
): GatewayError | undefined {
  const connectionTags = new Map(Object.entries(connection.tags ?? {}))
  const unmetPolicies = policies.flatMap(({ tags, source }) => {
    const missingTags = Object.entries(tags).filter(
      ([name, value]) => connectionTags.get(name)?.toString() !== value.toString(),
    )
    return missingTags.length === 0 ? [] : [{ source, tags: missingTags.map(formatTag) }]
  })
  if (unmetPolicies.length === 0) return undefined
  const requirements = unmetPolicies.map(({ source, tags }) => `${source} requires ${tags.join(' and ')}`).join('; ')
  return gatewayError('NO_COMPLIANT_TARGET', {
    message: `No available target of "${model}" has all required tags: ${requirements}. Use another model, or ask the operator of this gateway for a connection with these tags.`,
    data: { unmet: unmetPolicies.flatMap(({ tags }) => tags).length },
  })
}

const formatTag = ([name, value]: readonly [string, string | boolean]) =>
  `"${value.toString() === 'true' ? name : `${name}=${value}`}"`
