import { createCloudProxy } from 'signalbox/cloud'
import { durableObjectStorage, SignalboxStore } from 'signalbox/storage/durable-object'
import { toWorkersHandler } from 'signalbox/workers'

export { SignalboxStore } // the class of the Durable Object that stores the data
export default toWorkersHandler(({ STORE, SIGNALBOX_SECRET, SIGNALBOX_ENROLLMENT_TOKEN }) => {
  if (!SIGNALBOX_SECRET || !SIGNALBOX_ENROLLMENT_TOKEN)
    throw new Error('Set SIGNALBOX_SECRET, SIGNALBOX_ENROLLMENT_TOKEN: see README.md')
  return createCloudProxy({
    storage: durableObjectStorage(STORE),
    secret: SIGNALBOX_SECRET,
    enrollmentToken: SIGNALBOX_ENROLLMENT_TOKEN,
  })
})
