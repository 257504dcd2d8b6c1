/** What the user says where a format or a model demands a turn of the user and there is none, or one that says nothing. */
export const GO_ON = '(continue)'
