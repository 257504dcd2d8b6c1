import type { Choice, TokenUsage } from '../protocols/formats/canonical/canonical-response.ts'
import type { CodeRecords } from '../records/code-records.ts'
import { callDecider, type DeciderOptions } from './call-decider.ts'
import type { ModelRequest } from './model-request.ts'
import { RouteCallFacts, type RouteCallSource, type RouteResponse } from './route-call.ts'
import type { Group, GroupEntry, Route } from './routing/group.ts'

/** A request whose conditions are evaluated, and the functions defined in code. */
export interface ConditionSource extends RouteCallSource, Omit<DeciderOptions, 'ignoresErrors'> {
  code: Pick<CodeRecords, 'conditions' | 'onRouteError'>
  /** Aborts when the client stops waiting. Absent if the request is only explained. */
  signal?: AbortSignal
}

/** Calls the functions of a combo's entries concurrently, and adds the excluded entries to `excludedEntries`. Rejects with `ROUTE_FAILED`. */
export async function excludeEntries(
  group: Group,
  excludedEntries: Set<GroupEntry>,
  source: ConditionSource,
): Promise<void> {
  const { code, call, signal, clock, onError } = source
  const ignoresErrors = code.onRouteError === 'ignore'
  const facts = new RouteCallFacts(source)
  await Promise.all(
    group.entries.map(async (entry) => {
      const condition = code.conditions[(entry.when?.function ?? 0) - 1]
      const name = `The condition of "${entry.name}" in the combo "${group.name}"`
      const isMet =
        condition &&
        (await callDecider(async (deciderSignal) => readDecision(await condition(facts, { signal: deciderSignal })), {
          ...{ name, model: call.model, clock, ignoresErrors, onError, signal },
        }))
      if (isMet === false) excludedEntries.add(entry)
    }),
  )
}

/** Returns whether a function from a combo that led to the target rejects its response. Rejects with `ROUTE_FAILED`. */
export async function isResponseUnwanted(
  { choice, usage }: { choice: Choice; usage: TokenUsage | undefined },
  request: ModelRequest,
  { target, via }: Route,
): Promise<boolean> {
  const { log, call, exchange, client, context, table } = request
  const { clock, onError } = context
  const { signal } = client
  const { responseConditions, onRouteError } = table.code
  const facts = new RouteCallFacts({ id: log.id, call, exchange, caller: client.caller })
  const { provider, model, connection } = target
  const response: RouteResponse = {
    ...{ provider, model, connectionId: connection.id },
    text: choice.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: choice.content.flatMap((part) =>
      part.type === 'tool-call' ? [{ name: part.name, arguments: part.arguments }] : [],
    ),
    finishReason: choice.finish.reason,
    usage: usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
  }
  for (let groupChoice = via; groupChoice; groupChoice = groupChoice.parent) {
    const { group } = groupChoice
    if (!group.on?.includes('function')) continue
    for (const isUnwanted of responseConditions.get(group.name) ?? []) {
      const decision = await callDecider(
        async (deciderSignal) => readDecision(await isUnwanted(response, facts, { signal: deciderSignal })),
        {
          ...{ name: `A function in "on" of the combo "${group.name}"`, model: call.model, clock, onError, signal },
          ignoresErrors: onRouteError === 'ignore',
        },
      )
      if (decision === true) return true
    }
  }
  return false
}

function readDecision(decision: unknown): boolean {
  if (typeof decision === 'boolean') return decision
  throw new TypeError(
    `It must return true or false, not ${decision === null ? 'null' : `a value of type ${typeof decision}`}.`,
  )
}
