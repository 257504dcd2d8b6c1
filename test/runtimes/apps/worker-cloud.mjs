import { createCloudProxy } from 'signalbox/cloud'
import { durableObjectStorage, SignalboxStore } from 'signalbox/storage/durable-object'
import { kvStorage } from 'signalbox/storage/kv'
import { toWorkersHandler } from 'signalbox/workers'

export { SignalboxStore }

export default toWorkersHandler(({ STORE, KV, SECRET, ENROLLMENT_TOKEN }) =>
  createCloudProxy({
    storage: STORE ? durableObjectStorage(STORE) : kvStorage(KV),
    secret: SECRET,
    enrollmentToken: ENROLLMENT_TOKEN,
    logger: false,
  }),
)
