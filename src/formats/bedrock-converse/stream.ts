import { isObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { type StreamWatch, untouchedStream } from '../format.ts'
import { exceptionIn } from './error.ts'
import { brokenBy } from './stop-reason.ts'
import { converseUsage } from './usage.ts'

/** Events from `messageStart` to `metadata`, which comes behind the end and has the tokens. */
export function watchConverseStream(): StreamWatch {
  const watch = { ...untouchedStream(), observe }

  function observe({ event, data }: SseEvent) {
    switch (event) {
      case 'messageStart':
      case 'contentBlockStop':
        return
      case 'messageStop': {
        const said = watch.started ? undefined : tryParseJson(data)
        watch.error ??= isObject(said) ? brokenBy(said.stopReason) : undefined
        watch.started ||= !watch.error
        watch.ended = true
        return
      }
      case 'metadata': {
        const said = tryParseJson(data)
        watch.usage = isObject(said) ? converseUsage(said.usage) : undefined
        watch.closed = watch.ended
        return
      }
      case 'contentBlockStart':
      case 'contentBlockDelta':
        watch.started = true
        return
      default:
        watch.error ??= exceptionIn(event, data)
    }
  }

  return watch
}
