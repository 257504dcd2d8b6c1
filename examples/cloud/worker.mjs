import { createCloudProxy } from 'signalbox/cloud'
import { durableObjectStorage, SignalboxStore } from 'signalbox/storage/durable-object'
import { toWorkersHandler } from 'signalbox/workers'

export { SignalboxStore } // the class of the object that keeps the data
export default toWorkersHandler(({ STORE, SECRET, ENROLMENT }) => {
  if (!SECRET || !ENROLMENT) throw new Error('Set SECRET, ENROLMENT: see README.md')
  return createCloudProxy({ storage: durableObjectStorage(STORE), secret: SECRET, enrolment: ENROLMENT })
})
