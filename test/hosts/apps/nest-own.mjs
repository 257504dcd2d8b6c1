import { Body, Controller, Post } from '@nestjs/common'

/** The app's own route. It doesn't use decorator syntax, which Node doesn't support. */
export class OwnController {
  own(body) {
    return body
  }
}
Controller()(OwnController)
Post('own')(OwnController.prototype, 'own', Object.getOwnPropertyDescriptor(OwnController.prototype, 'own'))
Body()(OwnController.prototype, 'own', 0)
