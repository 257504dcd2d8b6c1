import { createCloudProxy } from 'signalbox/cloud'
import { durableObjectStorage, SignalboxStore } from 'signalbox/storage/durable-object'
import { kvStorage } from 'signalbox/storage/kv'
import { toWorkersHandler } from 'signalbox/workers'

export { SignalboxStore }

export default toWorkersHandler(({ STORE, KV, SECRET, ENROLMENT }) =>
  createCloudProxy({
    storage: STORE ? durableObjectStorage(STORE) : kvStorage(KV),
    secret: SECRET,
    enrolment: ENROLMENT,
    logger: false,
  }),
)
