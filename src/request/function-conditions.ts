import type { CodeRecords } from '../records/code-records.ts'
import { callDecider, type DeciderTerms } from './call-decider.ts'
import { RouteCallFacts, type RouteCallSource } from './route-call.ts'
import type { Group, GroupEntry } from './routing/group.ts'

/** A request whose conditions are evaluated, and the functions in code. */
export interface ConditionSource extends RouteCallSource, Omit<DeciderTerms, 'ignoresErrors'> {
  code: Pick<CodeRecords, 'conditions' | 'onRouteError'>
  /** Aborts when the client stops waiting; absent if the request is only explained. */
  signal?: AbortSignal
}

/** Calls the functions of a combo's entries, all at once, and adds the entries to exclude. Rejects with `ROUTE_FAILED`. */
export async function excludeEntries(group: Group, excluded: Set<GroupEntry>, source: ConditionSource): Promise<void> {
  const { code, call, signal, clock, onError } = source
  const ignoresErrors = code.onRouteError === 'ignore'
  const facts = new RouteCallFacts(source)
  await Promise.all(
    group.entries.map(async (entry) => {
      const condition = code.conditions[(entry.when?.function ?? 0) - 1]
      const name = `The condition of "${entry.name}" in the combo "${group.name}"`
      const isMet =
        condition &&
        (await callDecider(async (own) => readDecision(await condition(facts, { signal: own })), {
          ...{ name, model: call.model, clock, ignoresErrors, onError, signal },
        }))
      if (isMet === false) excluded.add(entry)
    }),
  )
}

function readDecision(decision: unknown): boolean {
  if (typeof decision === 'boolean') return decision
  throw new TypeError(
    `It must return true or false, not ${decision === null ? 'null' : `a value of type ${typeof decision}`}.`,
  )
}
