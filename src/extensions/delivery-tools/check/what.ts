/** What can be wrong at a place, but for the model: each has its words in every language of `report-words.ts`. */
export type What =
  | 'is there twice'
  | 'its records are for more than one municipality'
  | 'its client has another trajectory at the same time'
  | 'its status says that the signal was not taken up'
  | 'is not as in `Product 1.2`'
  | 'a second levering for its municipality'
  | 'has both: which of the two is it?'
  | 'has neither'
  | 'is not a gemeentecode'
  | 'is no KvK number: eight digits'
  | 'no contact with an e-mail address'
  | 'no gemeentecode'
  | 'is not in the other place'
  | 'they differ'
  | 'true without that date'
  | 'the case has no day on which it was taken up'
  | 'before the day on which the case was taken up'
  | 'ends before it begins'
  | 'ends in the future'
  | 'does not pass the eleven test'
  | 'is another value'
  | 'born on or after the day of the begin';

/** What the model says of a place, with the line in the file. */
export type ModelFault = `line ${number}: ${string}`;
