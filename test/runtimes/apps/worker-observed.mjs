import { createGateway } from 'signalbox'
import { jsonLog } from 'signalbox/log'
import { otel } from 'signalbox/otel'
import { prometheus } from 'signalbox/prometheus'
import { memoryStorage } from 'signalbox/storage/memory'
import * as api from '../../../node_modules/@opentelemetry/api/build/esm/index.js'

/** What the observers have recorded: the names of ended spans, and the log lines. */
const observed = { spans: [], lines: [] }

function startSpan(name) {
  const span = api.trace.wrapSpanContext({
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    traceFlags: 1,
  })
  return Object.assign(span, { end: () => void observed.spans.push(name) })
}
api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) })

const gateway = createGateway({
  storage: memoryStorage(),
  management: { token: 'test-token-of-thirty-two-characters' },
  logger: false,
  observe: [
    otel(api),
    prometheus({ token: 'token-of-the-scrape-0123456789abcdef' }),
    jsonLog(async (line) => void observed.lines.push(line)),
  ],
})

export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === '/observed' ? Response.json(observed) : gateway.fetch(request, env, context),
}
