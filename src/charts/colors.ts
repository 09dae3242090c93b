/** Colors of series: told apart with each kind of color blindness, on white and on the dark ground. */
export const COLORS = '#2f6fd6 #d95f1e #25a269 #d40039 #8d8cd4 #b81b94 #9513ff #c2759b'.split(' ')
